#include "runtime/sim/simulation.hpp"

#include <algorithm>
#include <cstring>

namespace tandem::runtime {

/// One node's view of the simulation's queues.
class Simulation::NodeScheduler final : public Scheduler {
 public:
  NodeScheduler(Simulation& simulation, std::uint64_t node) : simulation_(simulation), node_(node) {}

  void submit(Turn& turn) override { simulation_.ready_.push_back({node_, &turn}); }

  void wake_at(Turn& turn, MonotonicTime when) override {
    cancel_wake(turn);
    const Duration delay = std::max(when - simulation_.clock_.now(), Duration{});
    wakes_[&turn] = simulation_.schedule(node_, delay, [this, &turn] {
      wakes_.erase(&turn);
      turn.wake();
    });
  }

  void cancel_wake(Turn& turn) override {
    const auto found = wakes_.find(&turn);
    if (found == wakes_.end()) return;
    simulation_.events_.erase(found->second);
    wakes_.erase(found);
  }

  void post(UniqueFunction<void()> task) override { simulation_.schedule(node_, Duration{}, std::move(task)); }
  [[nodiscard]] bool may_block() const noexcept override { return false; }
  void stop() override {}

 private:
  Simulation& simulation_;
  const std::uint64_t node_;
  std::map<Turn*, EventKey> wakes_;
};

Simulation::Simulation(SimulationOptions options)
    : options_(options),
      random_(mix_seed(options.seed, "order")),
      nonces_(mix_seed(options.seed, "nonces")),
      network_([this](std::uint64_t node, Duration delay,
                      UniqueFunction<void()> run) { schedule(node, delay, std::move(run)); },
               [this](std::uint64_t from, std::uint64_t to) {
                 MemoryNetwork::Conditions conditions;
                 conditions.latency =
                     Duration(random_.uniform_int(options_.latency_min.count(), options_.latency_max.count()));
                 if (const auto extra = delays_.find({from, to}); extra != delays_.end()) {
                   conditions.latency += extra->second;
                 }
                 if (random_.uniform() < options_.split_probability) {
                   conditions.chunk_bytes = static_cast<std::size_t>(random_.uniform_int(1, 100));
                 }
                 return conditions;
               }) {}

Simulation::~Simulation() {
  while (!nodes_.empty()) crash(nodes_.begin()->first);
  events_.clear();
}

Runtime& Simulation::add_node(RuntimeOptions options) {
  const std::uint64_t number = options.node;
  if (nodes_.contains(number)) crash(number);
  options.clock = &clock_;
  if (options.token.empty()) options.token = "simulated";
  RuntimePlatform platform;
  Node& node = nodes_[number];
  node.scheduler = std::make_unique<NodeScheduler>(*this, number);
  node.transport = network_.transport(number);
  platform.scheduler = node.scheduler.get();
  platform.transport = node.transport.get();
  platform.trace = [this, number](std::uint64_t event) { trace(mix_seed(number, event)); };
  platform.nonce = [this](std::byte* into, std::size_t count) {
    for (std::size_t at = 0; at < count; at += sizeof(std::uint64_t)) {
      const std::uint64_t value = nonces_.next();
      std::memcpy(into + at, &value, std::min(sizeof(value), count - at));
    }
  };
  node.runtime = std::make_unique<Runtime>(std::move(options), std::move(platform));
  return *node.runtime;
}

Runtime* Simulation::node(std::uint64_t number) {
  const auto found = nodes_.find(number);
  return found != nodes_.end() ? found->second.runtime.get() : nullptr;
}

bool Simulation::alive(std::uint64_t node) const { return node == 0 || nodes_.contains(node); }

Simulation::EventKey Simulation::schedule(std::uint64_t node, Duration delay, UniqueFunction<void()> run) {
  const EventKey key{clock_.now() + delay, ++sequence_};
  if (alive(node)) events_.emplace(key, Event{node, std::move(run)});
  return key;
}

void Simulation::after(Duration delay, UniqueFunction<void()> then) { schedule(0, delay, std::move(then)); }

// ---- running

bool Simulation::step() {
  const bool due = !events_.empty() && events_.begin()->first.first <= clock_.now();
  if (ready_.empty() && events_.empty()) return false;
  ++steps_;
  // Events that are due compete with the turns; among themselves they keep their order, as bytes on a wire do.
  const auto choices = static_cast<std::int64_t>(ready_.size()) + (due ? 1 : 0);
  if (choices == 0 || (due && random_.uniform_int(0, choices - 1) == choices - 1)) {
    run_event();
  } else {
    run_ready();
  }
  if (on_step_) on_step_();
  return true;
}

void Simulation::run_ready() {
  const auto index = static_cast<std::size_t>(random_.uniform_int(0, static_cast<std::int64_t>(ready_.size()) - 1));
  const Ready chosen = ready_[index];
  ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(index));
  trace(mix_seed(chosen.node, chosen.turn->turn_id()));
  chosen.turn->run_turn();
}

void Simulation::run_event() {
  auto node = events_.extract(events_.begin());
  const auto [when, sequence] = node.key();
  if (when > clock_.now()) clock_.advance_to(when);
  trace(mix_seed(static_cast<std::uint64_t>(when.time_since_epoch().count()), node.mapped().node));
  node.mapped().run();
}

bool Simulation::run_until_idle(Duration at_most) {
  const MonotonicTime end = clock_.now() + at_most;
  for (;;) {
    if (ready_.empty() && (events_.empty() || events_.begin()->first.first > end)) return events_.empty();
    step();
  }
}

void Simulation::run_for(Duration duration) {
  const MonotonicTime end = clock_.now() + duration;
  run_until_idle(duration);
  if (clock_.now() < end) clock_.advance_to(end);
}

// ---- faults

void Simulation::crash(std::uint64_t number) {
  const auto found = nodes_.find(number);
  if (found == nodes_.end()) return;
  trace(mix_seed(number, "crash"));
  network_.remove(number);
  Node node = std::move(found->second);
  nodes_.erase(found);
  std::erase_if(ready_, [number](const Ready& ready) { return ready.node == number; });
  node.runtime.reset();
  // Moved out before they are destroyed: what they hold may schedule farewells at other nodes.
  std::vector<Event> dropped;
  for (auto at = events_.begin(); at != events_.end();) {
    const auto here = at++;
    if (here->second.node == number) dropped.push_back(std::move(events_.extract(here).mapped()));
  }
  dropped.clear();
  graves_.push_back(std::move(node));
}

std::size_t Simulation::cut(std::uint64_t a, std::uint64_t b) {
  trace(mix_seed(mix_seed(a, "cut"), b));
  return network_.cut(a, b);
}

void Simulation::delay(std::uint64_t from, std::uint64_t to, Duration extra) {
  if (extra == Duration{}) {
    delays_.erase({from, to});
  } else {
    delays_[{from, to}] = extra;
  }
}

}  // namespace tandem::runtime
