#include "runtime/sim/simulation.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <vector>

#include "tests/runtime/actor/messages.capnp.h"

namespace tandem::runtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kNodes = 3;
constexpr std::uint32_t kMailbox = 16;
constexpr Duration kScript = seconds(10);  // faults stop here

class Agent;

/// What every agent of a run writes down. It outlives crashes, as a witness should.
struct Ledger {
  int asked = 0, answered = 0, failed = 0;
  std::map<int, int> resolved;       // how often, by number of the ask
  std::map<int, const Agent*> open;  // asks under way, and who asks
  std::set<const Agent*> agents;     // alive
  std::map<ActorRef, int> waiting;   // messages of its own node in an actor's mailbox
  int strangers = 0;                 // Downs nobody waited for
  std::set<DownCause> causes;
  std::set<ErrorCode> errors;
  int refused = 0;  // sends answered by a full mailbox
};

/// Greets, asks and watches the agents it knows, at random.
class Agent : public Actor {
 public:
  Agent(Simulation& simulation, Ledger& ledger) : simulation_(simulation), ledger_(ledger) {
    ledger_.agents.insert(this);
    on<test::Introduce>(
        [this](test::Introduce::Reader who, Incoming&) { peers_.insert(from_address(who.getActor())); });
    on<test::Ping>([this](test::Ping::Reader question, Incoming& in) {
      if (!in.asked()) {
        if (in.sender().node == self().node) --ledger_.waiting[self()];
        if (question.getNumber() == 13) throw std::runtime_error("an unlucky number");
        return;
      }
      const double luck = simulation_.random().uniform();
      if (luck < 0.1) return;  // forgets
      if (luck < 0.2) return in.reply_error({ErrorCode::not_found, "not today"});
      if (luck < 0.4) {
        after(milliseconds(simulation_.random().uniform_int(0, 300)),
              [this, kept = std::make_shared<Responder>(in.defer())] { kept->reply(answer()); });
        return;
      }
      in.reply(answer());
    });
  }
  ~Agent() override {
    ledger_.agents.erase(this);
    std::erase_if(ledger_.open, [this](const auto& ask) { return ask.second == this; });  // its callbacks go with it
  }

  /// Whom it waits to be told of.
  [[nodiscard]] const std::set<ActorRef>& watched() const { return watched_; }

 protected:
  void on_start() override { act(); }
  void on_down(const Down& down) override {
    if (watched_.erase(down.ref) != 1) ++ledger_.strangers;
    ledger_.causes.insert(down.cause);
    peers_.erase(down.ref);
  }

 private:
  static Outgoing<test::Pong> answer() { return make_message<test::Pong>(); }

  void act() {
    if (clock().now().time_since_epoch() > kScript) return;
    Random& random = simulation_.random();
    after(milliseconds(random.uniform_int(1, 100)), [this] { act(); });
    if (peers_.empty()) return;
    const ActorRef peer =
        *std::next(peers_.begin(), random.uniform_int(0, static_cast<std::int64_t>(peers_.size()) - 1));
    switch (random.uniform_int(0, 5)) {
      case 0:
      case 2:
        return watch(peer);
      case 3:
        return unwatch(peer);
      case 1:
        return burst(peer);
      default:
        question(peer);
    }
  }
  void watch(ActorRef peer) {
    watched_.insert(peer);
    monitor(peer);
  }
  /// Its end may be under way already; it is not to be heard of any more.
  void unwatch(ActorRef peer) {
    watched_.erase(peer);
    demonitor(peer);
  }
  /// More at once than a mailbox holds.
  void burst(ActorRef peer) {
    for (int i = 0; i < 12; ++i) {
      auto message = make_message<test::Ping>();
      message->setNumber(simulation_.random().uniform_int(0, 2000));
      const auto sent = send(peer, std::move(message));
      if (sent && peer.node == self().node) ++ledger_.waiting[peer];
      if (!sent && sent.error().code() == ErrorCode::resource_exhausted) ++ledger_.refused;
    }
  }
  void question(ActorRef peer) {
    const int number = ledger_.asked++;
    ledger_.open[number] = this;
    ask<test::Pong>(peer, make_message<test::Ping>(), milliseconds(200), [this, number](auto reply) {
      ++ledger_.resolved[number];
      ledger_.open.erase(number);
      reply ? ++ledger_.answered : ++ledger_.failed;
      if (!reply) ledger_.errors.insert(reply.error().code());
    });
  }

  Simulation& simulation_;
  Ledger& ledger_;
  std::set<ActorRef> peers_;
  std::set<ActorRef> watched_;
};

/// A cluster of nodes, everyone listening, everyone connected to those before, under faults.
class Cluster {
 public:
  explicit Cluster(std::uint64_t seed) : simulation_({seed, std::chrono::microseconds(20), milliseconds(2), 0.25}) {
    for (std::uint64_t node = 1; node <= kNodes; ++node) start(node);
    simulation_.on_step([this] { check(); });
    plan_fault();
    plan_meeting();
  }

  void run() {
    simulation_.run_for(kScript);
    // Faults have stopped: everything under way comes to its end.
    simulation_.run_for(seconds(30));
    REQUIRE(ledger.open.empty());
    for (const Agent* agent : ledger.agents) {
      for (const ActorRef& ref : agent->watched()) REQUIRE(lives(ref));  // or its end was missed
    }
  }

  [[nodiscard]] bool lives(ActorRef ref) {
    Runtime* runtime = simulation_.node(ref.node);
    return runtime != nullptr && (runtime->lookup("agent0") == ref || runtime->lookup("agent1") == ref);
  }

  Ledger ledger;  // before the simulation: actors write to it to their end
  int crashes = 0, cuts = 0;
  [[nodiscard]] std::uint64_t hash() const { return simulation_.trace_hash(); }
  [[nodiscard]] Simulation& simulation() { return simulation_; }

 private:
  void start(std::uint64_t number) {
    RuntimeOptions options;
    options.node = number;
    options.incarnation = ++incarnations_;
    Runtime& runtime = simulation_.add_node(options);
    REQUIRE(runtime.listen("memory:" + std::to_string(number)));
    for (int i = 0; i < 2; ++i) {
      SpawnOptions spawn;
      spawn.name = "agent" + std::to_string(i);
      spawn.mailbox_messages = kMailbox;
      spawn.restart = i == 0 ? Restart::on_failure : Restart::none;
      spawn.max_restarts = 2;
      runtime.spawn_supervised(spawn, [this] { return std::make_unique<Agent>(simulation_, ledger); });
    }
  }

  /// Every so often nodes reconnect and agents are introduced to each other.
  void plan_meeting() {
    if (simulation_.clock().now().time_since_epoch() > kScript) return;
    for (std::uint64_t from = 1; from <= kNodes; ++from) {
      Runtime* runtime = simulation_.node(from);
      if (runtime == nullptr) continue;
      for (std::uint64_t to = 1; to < from; ++to) runtime->connect("memory:" + std::to_string(to), [](auto) {});
      for (std::uint64_t to = 1; to <= kNodes; ++to) {
        for (const char* name : {"agent0", "agent1"}) {
          if (to == from) {
            introduce(*runtime, runtime->lookup(name));
          } else {
            runtime->remote(to, name, milliseconds(100), [this, from](Result<ActorRef> found) {
              if (found && simulation_.node(from) != nullptr) introduce(*simulation_.node(from), *found);
            });
          }
        }
      }
    }
    simulation_.after(milliseconds(200), [this] { plan_meeting(); });
  }
  static void introduce(Runtime& runtime, ActorRef who) {
    if (!who) return;
    for (const char* name : {"agent0", "agent1"}) {
      auto message = make_message<test::Introduce>();
      to_address(who, message->initActor());
      (void)runtime.send(runtime.lookup(name), std::move(message));
    }
  }

  void plan_fault() {
    if (simulation_.clock().now().time_since_epoch() > kScript) return;
    Random& random = simulation_.random();
    const auto a = static_cast<std::uint64_t>(random.uniform_int(1, kNodes));
    const auto b = 1 + a % kNodes;
    switch (random.uniform_int(0, 3)) {
      case 0:
        cuts += simulation_.cut(a, b) > 0 ? 1 : 0;
        break;
      case 1:
        simulation_.delay(a, b, milliseconds(random.uniform_int(0, 400)));
        break;
      case 2:
        simulation_.delay(a, b, Duration{});
        break;
      default:
        crash(a);
        simulation_.after(milliseconds(random.uniform_int(1, 500)), [this, a] {
          if (simulation_.node(a) == nullptr) start(a);
        });
    }
    simulation_.after(milliseconds(random.uniform_int(50, 1500)), [this] { plan_fault(); });
  }
  void crash(std::uint64_t number) {
    if (simulation_.node(number) == nullptr) return;
    ++crashes;
    std::erase_if(ledger.waiting, [number](const auto& entry) { return entry.first.node == number; });
    simulation_.crash(number);
  }

  /// After every step.
  void check() {
    REQUIRE(ledger.strangers == 0);
    REQUIRE(ledger.answered + ledger.failed == static_cast<int>(ledger.resolved.size()));
    for (const auto& [ref, count] : ledger.waiting) REQUIRE(count <= static_cast<int>(kMailbox));
  }

  Simulation simulation_;
  std::uint64_t incarnations_ = 0;
};

}  // namespace

TEST_CASE("virtual time passes only as events need it") {
  Simulation simulation({});
  std::vector<int> order;
  simulation.after(seconds(3600), [&] { order.push_back(2); });
  simulation.after(seconds(1), [&] { order.push_back(1); });
  CHECK(simulation.run_until_idle());
  CHECK(order == std::vector<int>{1, 2});
  CHECK(simulation.clock().now().time_since_epoch() == seconds(3600));
}

TEST_CASE("a handler that holds its thread for long is named in the log") {
  struct Sleeper : Actor {
    explicit Sleeper(VirtualClock* clock) {
      on<test::Ping>([clock](auto, Incoming&) { clock->advance_to(clock->now() + seconds(2)); });
    }
  };
  std::vector<std::string> lines;
  Simulation simulation({});
  RuntimeOptions options;
  options.logger =
      Logger::to_function("node", [&](LogLevel, std::string_view, std::string_view line) { lines.emplace_back(line); });
  Runtime& runtime = simulation.add_node(options);
  SpawnOptions named;
  named.name = "sleeper";
  const ActorRef sleeper = runtime.spawn<Sleeper>(named, &simulation.clock());
  REQUIRE(runtime.send(sleeper, make_message<test::Ping>()));
  simulation.run_until_idle();
  REQUIRE(lines.size() == 1);
  CHECK(lines.front() == "actor sleeper held its thread for 2.00 s in Ping");
}

TEST_CASE(
    "under faults every ask is resolved once, Down comes once, no mailbox overflows and no end is missed, over many "
    "seeds") {
  int crashes = 0, cuts = 0, answered = 0, refused = 0;
  std::set<DownCause> causes;
  std::set<ErrorCode> errors;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    Cluster cluster(seed);
    cluster.run();
    const auto& ledger = cluster.ledger;
    answered += ledger.answered;
    refused += ledger.refused;
    crashes += cluster.crashes;
    cuts += cluster.cuts;
    causes.insert(ledger.causes.begin(), ledger.causes.end());
    errors.insert(ledger.errors.begin(), ledger.errors.end());
  }
  // Each kind of fault has been seen to fire.
  CHECK(answered > 1000);
  CHECK(crashes > 50);
  CHECK(cuts > 50);
  CHECK(causes.contains(DownCause::node_lost));
  CHECK(causes.contains(DownCause::failed));
  CHECK(refused > 0);
  for (const auto code : {ErrorCode::deadline_exceeded, ErrorCode::unavailable, ErrorCode::not_found}) {
    CAPTURE(to_string(code));
    CHECK(errors.contains(code));
  }
}

TEST_CASE("the same seed gives the same trace, another seed another") {
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Cluster first(seed), second(seed);
    first.run();
    second.run();
    CHECK(first.hash() == second.hash());
    CHECK(first.simulation().steps() == second.simulation().steps());
    hashes.insert(first.hash());
  }
  CHECK(hashes.size() == 20);
}

}  // namespace tandem::runtime
