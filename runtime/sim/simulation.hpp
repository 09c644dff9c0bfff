/// Simulation: several nodes on one thread, in virtual time, over a network in memory. Everything that may come in any
/// order comes in an order drawn from the seed; the same seed gives the same run, which `trace_hash` shows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/actor/runtime.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/random.hpp"
#include "runtime/wire/memory_transport.hpp"

namespace tandem::runtime {

struct SimulationOptions {
  std::uint64_t seed = 1;
  Duration latency_min = std::chrono::microseconds(20);
  Duration latency_max = std::chrono::milliseconds(2);
  double split_probability = 0.25;  ///< that bytes arrive in small pieces
};

class Simulation {
 public:
  explicit Simulation(SimulationOptions options);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  [[nodiscard]] VirtualClock& clock() noexcept { return clock_; }
  /// For the test's own choices, so that they replay too.
  [[nodiscard]] Random& random() noexcept { return random_; }

  /// Makes a node. Clock, threads and, when empty, the token are the simulation's. A number used before is a restart.
  Runtime& add_node(RuntimeOptions options);
  /// Null once crashed.
  [[nodiscard]] Runtime* node(std::uint64_t number);

  /// Runs one turn or one event; false when there is none.
  bool step();
  /// Until nothing is left to do, or `at_most` has passed. Whether it is idle.
  bool run_until_idle(Duration at_most = std::chrono::hours(24));
  void run_for(Duration duration);
  /// Calls `then` after `delay`, between two turns. For the script of a test.
  void after(Duration delay, UniqueFunction<void()> then);
  /// Called after every step, e.g. to check invariants.
  void on_step(std::function<void()> check) { on_step_ = std::move(check); }

  // Faults; call them between steps or from `after`.

  /// The node ends without a word: no handler, no goodbye.
  void crash(std::uint64_t number);
  /// Resets every connection between two nodes.
  std::size_t cut(std::uint64_t a, std::uint64_t b);
  /// From now on bytes from `from` to `to` take this much longer; zero ends it.
  void delay(std::uint64_t from, std::uint64_t to, Duration extra);

  [[nodiscard]] std::uint64_t trace_hash() const noexcept { return trace_; }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

 private:
  class NodeScheduler;
  struct Node {
    std::unique_ptr<NodeScheduler> scheduler;
    std::unique_ptr<Transport> transport;
    std::unique_ptr<Runtime> runtime;
  };
  struct Ready {
    std::uint64_t node;
    Turn* turn;
  };
  using EventKey = std::pair<MonotonicTime, std::uint64_t>;
  struct Event {
    std::uint64_t node;  // 0: of the simulation itself
    UniqueFunction<void()> run;
  };

  EventKey schedule(std::uint64_t node, Duration delay, UniqueFunction<void()> run);
  [[nodiscard]] bool alive(std::uint64_t node) const;
  void run_ready();
  void run_event();
  void trace(std::uint64_t value) noexcept { trace_ = mix_seed(trace_, value); }

  const SimulationOptions options_;
  VirtualClock clock_;
  Random random_;
  Random nonces_;
  std::vector<Ready> ready_;
  std::map<EventKey, Event> events_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Duration> delays_;
  MemoryNetwork network_;
  std::map<std::uint64_t, Node> nodes_;
  std::vector<Node> graves_;  // transports may still be named by connections that fade away
  std::function<void()> on_step_;
  std::uint64_t sequence_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t trace_ = 0;
};

}  // namespace tandem::runtime
