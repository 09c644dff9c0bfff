/// Limits and intervals of the tuning actors, together.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/clock.hpp"

namespace tandem::actors {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Between the actors of one trial host.
inline constexpr Duration kHostAskDeadline = seconds(60);
/// A report waits for its decision; the study may be writing to a slow disk.
inline constexpr Duration kReportDeadline = seconds(120);
/// A trial waits for a warm host: loading LibTorch and a data set cold takes seconds on a slow disk.
inline constexpr Duration kPlaceDeadline = seconds(180);
/// Evaluating the test split of the best trial.
inline constexpr Duration kTestDeadline = seconds(600);
/// The ground truth answers or counts as a miss.
inline constexpr Duration kGroundTruthDeadline = seconds(5);
/// How often a trial tells its watchers where it is.
inline constexpr Duration kProgressInterval = milliseconds(250);
/// How often an observer is shown a study in which nothing was decided.
inline constexpr Duration kSnapshotInterval = milliseconds(500);
/// Power loss may cost the reports of this long.
inline constexpr Duration kGroupCommitInterval = milliseconds(50);
/// Wall time spent is recorded this often.
inline constexpr Duration kTimeRecordInterval = seconds(5);
/// The first window is short, so that the start of a trial is seen and timed.
inline constexpr std::int64_t kFirstWindowSteps = 4;
/// Warm hosts kept beyond those leased, per environment.
inline constexpr int kWarmHosts = 1;
/// Placements that wait for cores or a host at one worker.
inline constexpr std::size_t kWaitingPlacements = 1'024;
/// Trials a snapshot lists beside those running.
inline constexpr std::size_t kSnapshotTrials = 200;
/// A host that could not be made this often in a row ends the study; a trial that lost its host this often, by no
/// doing of its own, fails.
inline constexpr int kPlacementRetries = 3;
/// Before a host is asked for again; times the failures in a row.
inline constexpr Duration kPlacementBackoff = milliseconds(200);
/// Hosts that ended before they were ready, remembered in case their readiness is told late.
inline constexpr std::size_t kGoneHosts = 256;

}  // namespace tandem::actors
