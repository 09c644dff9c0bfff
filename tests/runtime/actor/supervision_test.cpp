#include <doctest/doctest.h>

#include <atomic>

#include "tests/runtime/actor/fixture.hpp"

namespace tandem::runtime {
namespace {

/// Spawns a watcher that records the end of `ref`.
ActorRef watch(Runtime& runtime, ActorRef ref, Record& record) {
  return runtime.spawn<Scripted>(
      {}, Scripted::Script{[ref](Scripted& self) {
                             self.monitor(ref);
                             self.monitor(ref);  // twice is once
                           },
                           [&record](Scripted&, const Down& down) {
                             record.add(fmt::format("{} {}", to_string(down.cause), down.detail));
                           },
                           {}});
}

}  // namespace

TEST_CASE("each cause of an end is told apart") {
  struct Case {
    const char* name;
    std::function<void(Runtime&, ActorRef)> end;
    std::string begins;
  };
  const Case cases[] = {
      {"stop", [](Runtime& runtime, ActorRef ref) { REQUIRE(runtime.stop(ref)); }, "stopped"},
      {"exception", [](Runtime& runtime, ActorRef ref) { REQUIRE(runtime.send(ref, ping(1))); }, "failed broken"},
      {"memory", [](Runtime& runtime, ActorRef ref) { REQUIRE(runtime.send(ref, ping(2))); }, "out_of_memory"},
      {"lease",
       [](Runtime& runtime, ActorRef ref) { REQUIRE(runtime.kill(ref, DownCause::lease_lost, "core 1 is gone")); },
       "lease_lost core 1 is gone"},
  };
  for (const auto& each : cases) {
    CAPTURE(each.name);
    Record record;
    Runtime runtime(options());
    const ActorRef mortal = spawn_scripted(runtime, [](Scripted& self) {
      self.on<test::Ping>([](test::Ping::Reader how, Incoming&) {
        if (how.getNumber() == 1) throw std::runtime_error("broken");
        if (how.getNumber() == 2) throw std::bad_alloc();
      });
      self.on<test::Introduce>([](auto, Incoming& in) { in.reply(pong(0)); });
    });
    const ActorRef watcher = watch(runtime, mortal, record);
    // The watcher has registered once it has passed its own start, and the watched has seen what it sent.
    REQUIRE_FALSE(runtime.ask_blocking<test::Pong>(watcher, make_message<test::Introduce>(), kPatience));
    REQUIRE(runtime.ask_blocking<test::Pong>(mortal, make_message<test::Introduce>(), kPatience));
    each.end(runtime, mortal);
    const auto events = record.wait_for(1);
    CHECK(events.front().rfind(each.begins, 0) == 0);
    REQUIRE(runtime.shutdown(kPatience));
    CHECK(record.all().size() == 1);
  }
}

TEST_CASE("watching the dead tells of their end at once") {
  Record record;
  Runtime runtime(options());
  const ActorRef brief = spawn_scripted(runtime, [](Scripted& self) { self.stop(); });
  watch(runtime, brief, record);
  record.wait_for(1);
  watch(runtime, brief, record);
  CHECK(record.wait_for(2).size() == 2);
}

TEST_CASE("an end already under way is not told to one that watches no longer, nor twice to one that watches again") {
  Record record;
  Runtime runtime(options());
  const ActorRef dead{1, 1, 12345678};
  runtime.spawn<Scripted>({}, Scripted::Script{[&](Scripted& self) {
                                                 self.monitor(dead);  // its Down waits in the mailbox from here on
                                                 self.demonitor(dead);
                                                 self.after(std::chrono::milliseconds(1), [&] {
                                                   record.add("not told");
                                                   self.monitor(dead);
                                                   self.demonitor(dead);
                                                   self.monitor(dead);
                                                 });
                                               },
                                               [&](Scripted&, const Down&) { record.add("told"); },
                                               {}});
  CHECK(record.wait_for(2) == std::vector<std::string>{"not told", "told"});
  REQUIRE(runtime.shutdown(kPatience));
  CHECK(record.all().size() == 2);
}

TEST_CASE("Down comes after the last message") {
  Record record;
  Runtime runtime(options());
  Gate gate;
  const ActorRef watcher = runtime.spawn<Scripted>(
      {}, Scripted::Script{[&](Scripted& self) {
                             self.on<test::Introduce>([&](test::Introduce::Reader who, Incoming&) {
                               self.monitor(from_address(who.getActor()));
                               gate.open();
                             });
                             self.on<test::Ping>([&](test::Ping::Reader message, Incoming&) {
                               record.add(std::to_string(message.getNumber()));
                             });
                           },
                           [&](Scripted&, const Down&) { record.add("down"); },
                           {}});
  const ActorRef talker = spawn_scripted(runtime, [watcher](Scripted& self) {
    self.on<test::Ping>([&self, watcher](auto, Incoming&) {
      for (int i = 0; i < 100; ++i) (void)self.send(watcher, ping(i));
      self.stop();
    });
  });
  auto introduce = make_message<test::Introduce>();
  to_address(talker, introduce->initActor());
  REQUIRE(runtime.send(watcher, std::move(introduce)));
  gate.wait();
  REQUIRE(runtime.send(talker, ping(0)));
  const auto events = record.wait_for(101);
  REQUIRE(events.size() == 101);
  CHECK(events[99] == "99");
  CHECK(events[100] == "down");
}

TEST_CASE("a supervised actor is made anew behind its reference, keeps its mailbox, and gives up after its limit") {
  Record record;
  Runtime runtime(options());
  SpawnOptions supervised;
  supervised.restart = Restart::on_failure;
  supervised.max_restarts = 2;
  supervised.restart_backoff = std::chrono::milliseconds(1);
  std::atomic<int> lives{0};
  const ActorRef phoenix = runtime.spawn_supervised(supervised, [&]() -> std::unique_ptr<Actor> {
    ++lives;
    return std::make_unique<Scripted>(Scripted::Script{[&](Scripted& self) {
                                                         self.on<test::Ping>([&](test::Ping::Reader how, Incoming& in) {
                                                           if (how.getNumber() == 0) throw std::runtime_error("again");
                                                           in.reply(pong(lives));
                                                         });
                                                       },
                                                       {},
                                                       {}});
  });
  watch(runtime, phoenix, record);
  for (int life = 1; life <= 3; ++life) {
    const auto answer = runtime.ask_blocking<test::Pong>(phoenix, ping(1), kPatience);
    REQUIRE(answer);
    CHECK(answer->root().getNumber() == life);
    const auto failed = runtime.ask_blocking<test::Pong>(phoenix, ping(0), kPatience);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code() == ErrorCode::internal);
  }
  const auto events = record.wait_for(1);
  CHECK(events.front() == "failed again in Ping (after 2 restarts)");
  CHECK(lives == 3);
}

TEST_CASE("an actor that fails at every start, or whose factory does, ends in the same way") {
  for (const bool in_factory : {false, true}) {
    CAPTURE(in_factory);
    Record record;
    Runtime runtime(options());
    SpawnOptions supervised;
    supervised.restart = Restart::on_failure;
    supervised.max_restarts = 3;
    supervised.restart_backoff = std::chrono::milliseconds(1);
    int made = 0;
    const ActorRef doomed = runtime.spawn_supervised(supervised, [&, in_factory]() -> std::unique_ptr<Actor> {
      if (++made > 1 && in_factory) throw std::runtime_error("cannot be made");
      return std::make_unique<Scripted>(
          Scripted::Script{[](Scripted&) { throw std::runtime_error("cannot start"); }, {}, {}});
    });
    watch(runtime, doomed, record);
    record.wait_for(1);
    CHECK(made == 4);
  }
}

TEST_CASE("an actor may hold up its stop and go on talking, until it is done or its deadline kills it") {
  for (const bool done_in_time : {true, false}) {
    CAPTURE(done_in_time);
    Record record;
    Runtime runtime(options());
    const ActorRef helper = spawn_scripted(runtime, answer_pings);
    SpawnOptions options;
    options.stop_deadline = done_in_time ? kPatience : Duration(std::chrono::milliseconds(20));
    const ActorRef careful =
        runtime.spawn<Scripted>(options, Scripted::Script{{}, {}, [=](Scripted& self) {
                                                            self.hold_stop("writing the last report");
                                                            self.ask<test::Pong>(helper, ping(1), kPatience,
                                                                                 [&self, done_in_time](auto answer) {
                                                                                   if (answer && done_in_time)
                                                                                     self.release_stop();
                                                                                 });
                                                          }});
    watch(runtime, careful, record);
    REQUIRE(runtime.stop(careful));
    const auto events = record.wait_for(1);
    if (done_in_time) {
      CHECK(events.front().rfind("stopped", 0) == 0);
    } else {
      CHECK(events.front().find("writing the last report") != std::string::npos);
      CHECK(events.front().rfind("killed", 0) == 0);
    }
  }
}

TEST_CASE("a kill is not held up by what waits in the mailbox; who waits there is told") {
  Record record;
  Gate gate, entered;
  Runtime runtime(options());
  const ActorRef busy = spawn_scripted(runtime, [&](Scripted& self) {
    self.on<test::Ping>([&](auto, Incoming&) {
      entered.open();
      gate.wait();
      record.add("handled");
    });
  });
  REQUIRE(runtime.send(busy, ping(0)));
  entered.wait();
  spawn_scripted(runtime, [&](Scripted& self) {
    self.ask<test::Pong>(busy, ping(1), kPatience,
                         [&](auto answer) { record.add(std::string(to_string(answer.error().code()))); });
    REQUIRE(self.runtime().kill(busy, DownCause::killed, "for the test"));
    gate.open();
  });
  CHECK(record.wait_for(2) == std::vector<std::string>{"handled", "unavailable"});
}

}  // namespace tandem::runtime
