/// Every limit of the runtime, together. A limit reached is answered with an error that names it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "runtime/base/clock.hpp"

namespace tandem::limits {

using std::chrono::milliseconds;
using std::chrono::seconds;

// ---- actors

/// Actors alive in one runtime.
inline constexpr std::size_t kActors = 1'000'000;
/// Messages waiting in one mailbox; replies, timers, stop and Down have places of their own.
inline constexpr std::uint32_t kMailboxMessages = 1'024;
/// The largest number of messages a mailbox may be asked to hold.
inline constexpr std::uint32_t kMailboxMessagesMax = 131'072;
/// Bytes waiting in one mailbox.
inline constexpr std::uint64_t kMailboxBytes = 64ULL << 20;
/// Asks of one actor waiting for their answer.
inline constexpr std::size_t kPendingAsks = 65'536;
/// Timers of one actor.
inline constexpr std::size_t kTimers = 65'536;
/// Actors that one actor watches, and actors that watch it.
inline constexpr std::size_t kMonitors = 65'536;
/// Bytes of an actor's name.
inline constexpr std::size_t kNameBytes = 256;
/// Messages an actor takes before it lets others run.
inline constexpr int kTurnMessages = 256;
/// Actors run one after another on a thread before it looks at its sockets again.
inline constexpr int kHandOffs = 64;
/// An actor whose turns take longer does not hold back the actor it has just woken.
inline constexpr Duration kQuickTurn = std::chrono::microseconds(200);
/// A handler that runs longer is logged.
inline constexpr Duration kSlowHandler = seconds(1);
/// An actor that holds up its stop is killed after this.
inline constexpr Duration kStopDeadline = seconds(5);
/// Restarts of a supervised actor, and the window in which they are counted.
inline constexpr int kRestarts = 5;
inline constexpr Duration kRestartWindow = seconds(60);
/// First wait before a restart; doubled each time up to the last.
inline constexpr Duration kRestartBackoff = milliseconds(100);
inline constexpr Duration kRestartBackoffMax = seconds(10);
/// Message envelopes a thread keeps for reuse.
inline constexpr std::size_t kPooledEnvelopes = 8'192;
/// Threads of one runtime.
inline constexpr int kThreads = 256;

// ---- wire

/// Body of an ordinary frame. Larger data goes in chunks or as an object.
inline constexpr std::uint32_t kFrameBytes = 16U << 20;
/// Body of a control frame: names, monitors, errors.
inline constexpr std::uint32_t kControlFrameBytes = 64U << 10;
/// Segments of one Cap'n Proto message.
inline constexpr std::uint32_t kSegments = 512;
/// Depth of pointers in a received message.
inline constexpr int kNesting = 64;
/// Bytes waiting to be written to one connection.
inline constexpr std::size_t kConnectionQueueBytes = 64ULL << 20;
/// Bytes read from a socket at a time.
inline constexpr std::size_t kReadBytes = 64ULL << 10;
/// Connections that one runtime keeps, and those that have not shown the token yet.
inline constexpr std::size_t kConnections = 4'096;
inline constexpr std::size_t kUnauthenticatedConnections = 256;
/// From the look-up of a host's name to the connection, all its addresses together.
inline constexpr Duration kConnectDeadline = seconds(10);
/// From the connection to the end of the handshake.
inline constexpr Duration kHandshakeDeadline = seconds(5);
/// Bytes of an error's text sent to another node.
inline constexpr std::size_t kErrorTextBytes = 4'096;
/// How long the last frames of a connection may take when a runtime shuts down.
inline constexpr Duration kFlushDeadline = seconds(1);

// ---- placement

/// Bundles of one request.
inline constexpr std::size_t kPlacementBundles = 1'024;
/// Tries of one node for one bundle before a search among many nodes ends.
inline constexpr int kPlacementSteps = 20'000;
/// What one bundle may ask for; beyond lies a mistake.
inline constexpr std::int64_t kNodeCores = 65'536;
inline constexpr std::int64_t kNodeMemoryBytes = 1LL << 50;

// ---- hosts

/// A request or notice between a worker and a template.
inline constexpr std::size_t kTemplateFrameBytes = 1U << 20;
/// Requests that wait for a template to read them.
inline constexpr std::size_t kTemplateRequests = 1'024;
/// Between two looks at what a child with a memory limit holds; at its whole process group, every so many looks.
inline constexpr Duration kMemoryWatchInterval = milliseconds(100);
inline constexpr int kMemoryGroupLooks = 10;
/// From the end of a template's control stream to the end of its process.
inline constexpr Duration kTemplateExitDeadline = seconds(5);
/// Threads of one process whose perf events and waits are sampled.
inline constexpr std::size_t kSampledThreads = 32;
/// Passes over the threads of a process before their affinity counts as unsettled.
inline constexpr int kAffinityPasses = 32;
/// A file of /proc or /sys.
inline constexpr std::size_t kSystemFileBytes = 4U << 20;

}  // namespace tandem::limits
