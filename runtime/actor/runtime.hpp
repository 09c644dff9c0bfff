/// Runtime: owns actors, threads and connections of one node. Nothing about it is global: a process may hold several,
/// and one made after a fork owes nothing to the parent.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "runtime/actor/actor.hpp"
#include "runtime/actor/scheduler.hpp"
#include "runtime/wire/hello.hpp"
#include "runtime/wire/transport.hpp"

namespace tandem::runtime {

class Core;

struct RuntimeOptions {
  std::string name = "node";  ///< for logs
  int threads = 1;
  std::uint64_t node = 1;         ///< unique among the nodes that ever meet
  std::uint64_t incarnation = 1;  ///< grows with each life of the node, e.g. its start time
  std::uint64_t seed = 1;         ///< of everything random that is not secret
  const Clock* clock = nullptr;   ///< null: the system's
  std::string token;              ///< shared secret of the cluster; needed by listen and connect
  std::string advertise;          ///< address told to peers; empty: where it first listens
  Logger logger;                  ///< silent unless given
};

/// What the simulator puts in place of threads and sockets. Both outlive the runtime.
struct RuntimePlatform {
  Scheduler* scheduler = nullptr;
  Transport* transport = nullptr;
  std::function<void(std::uint64_t)> trace;            ///< told a number for each message handled; may be empty
  std::function<void(std::byte*, std::size_t)> nonce;  ///< fills random bytes; empty: the operating system's
};

struct NodeId {
  std::uint64_t node = 0;
  std::uint64_t incarnation = 0;
  auto operator<=>(const NodeId&) const = default;
};

/// Thread-safe.
class Runtime {
 public:
  using Factory = std::function<std::unique_ptr<Actor>()>;

  explicit Runtime(RuntimeOptions options);
  Runtime(RuntimeOptions options, RuntimePlatform platform);
  /// Shuts down first if nobody has; waits for handlers under way.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  [[nodiscard]] NodeId id() const noexcept;
  [[nodiscard]] const Clock& clock() const noexcept;
  [[nodiscard]] const Logger& log() const noexcept;

  /// Makes the actor here and starts it on the runtime's threads. Arguments that can be copied are kept for restarts.
  /// Nobody, with a line in the log, when the name is taken, a limit reached, the constructor throws, or the runtime
  /// shuts down.
  template <class A, class... Args>
  ActorRef spawn(SpawnOptions options, Args&&... args) {
    if constexpr ((std::is_copy_constructible_v<std::decay_t<Args>> && ...) &&
                  std::is_constructible_v<A, const std::decay_t<Args>&...>) {
      return spawn_supervised(
          std::move(options), [kept = std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...)] {
            return std::apply(
                [](const auto&... each) -> std::unique_ptr<Actor> { return std::make_unique<A>(each...); }, kept);
          });
    } else {
      return spawn_once(
          std::move(options), [kept = std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...)]() mutable {
            return std::apply(
                [](auto&... each) -> std::unique_ptr<Actor> { return std::make_unique<A>(std::move(each)...); }, kept);
          });
    }
  }
  /// The factory is called at once and again for each restart.
  ActorRef spawn_supervised(SpawnOptions options, Factory factory);

  /// Nobody when no actor of this node has that name.
  [[nodiscard]] ActorRef lookup(std::string_view name) const;

  /// As Actor::send, from any thread.
  template <class T>
  Result<> send(ActorRef to, Outgoing<T> message) {
    return send_envelope(to, std::move(message).release());
  }
  /// For plain threads; an actor must not block, and a simulation refuses it with failed_precondition.
  template <class Rsp, class Req>
  [[nodiscard]] Result<Reply<Rsp>> ask_blocking(ActorRef to, Outgoing<Req> request, Duration deadline) {
    return typed_reply<Rsp>(ask_envelope_blocking(to, std::move(request).release(), deadline));
  }

  /// As Actor::stop, from outside. For actors of this node. Error unavailable: it has ended.
  Result<> stop(ActorRef ref);
  /// Ends the actor before its next message; on_stop does not run.
  Result<> kill(ActorRef ref, DownCause cause, std::string detail);

  /// Accepts nodes at "unix:PATH", "tcp:HOST:PORT" on the loopback, "tls:HOST:PORT" anywhere (port 0: a free one) or,
  /// in simulation, "memory:NAME". Tells where it really listens.
  Result<std::string> listen(const std::string& address);
  /// Joins the node that listens there. The callback runs on a thread of the runtime.
  void connect(const std::string& address, std::function<void(Result<NodeId>)> done);
  [[nodiscard]] Result<NodeId> connect_blocking(const std::string& address);
  /// Ends the connection to a node; its actors count as lost.
  void disconnect(std::uint64_t node);

  /// Asks a connected node for the actor it knows by that name. Errors: not_found, unavailable, deadline_exceeded.
  void remote(std::uint64_t node, const std::string& name, Duration deadline,
              std::function<void(Result<ActorRef>)> done);
  [[nodiscard]] Result<ActorRef> remote_blocking(std::uint64_t node, const std::string& name, Duration deadline);

  /// Takes what a connected node opens for `purpose`: an authenticated stream, nothing read from it yet. Called on a
  /// thread of the runtime. Register before the first listen or connect.
  using TakeStream = std::function<void(NodeId peer, std::shared_ptr<Stream>)>;
  void accept_streams(Purpose purpose, TakeStream take);
  /// Opens such a stream to a connected node. Errors: unavailable, it is not connected or listens nowhere;
  /// failed_precondition, it takes no such streams. Streams must be gone before the runtime is.
  void open_stream(std::uint64_t node, Purpose purpose, Transport::OnStream done);

  /// Called on a thread of the runtime. Register before the first listen or connect.
  void on_node_up(std::function<void(NodeId)> tell);
  void on_node_down(std::function<void(NodeId, const Error& why)> tell);

  /// Actors alive, those of the runtime itself not counted.
  [[nodiscard]] std::size_t actors() const;

  /// Stops every actor, says goodbye to every node, joins the threads. Error deadline_exceeded names the actors that
  /// would not end and what they do; the destructor still waits for their handlers.
  Result<> shutdown(Duration deadline);

 private:
  ActorRef spawn_once(SpawnOptions options, UniqueFunction<std::unique_ptr<Actor>()> make);
  Result<> send_envelope(ActorRef to, EnvelopePtr envelope);
  Result<EnvelopePtr> ask_envelope_blocking(ActorRef to, EnvelopePtr envelope, Duration deadline);

  std::unique_ptr<Core> core_;
};

}  // namespace tandem::runtime
