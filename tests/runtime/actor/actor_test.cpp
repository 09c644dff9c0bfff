#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "tests/runtime/actor/fixture.hpp"

namespace tandem::runtime {

TEST_CASE("a reference passes through an address unharmed") {
  capnp::MallocMessageBuilder message;
  auto address = message.initRoot<schemas::ActorAddress>();
  const ActorRef ref{1, 2, 3};
  to_address(ref, address);
  CHECK(from_address(address) == ref);
  CHECK(static_cast<bool>(ref));
  CHECK_FALSE(static_cast<bool>(ActorRef{}));
  CHECK(std::hash<ActorRef>{}(ref) != std::hash<ActorRef>{}(ActorRef{1, 2, 4}));
}

TEST_CASE("messages of one sender arrive in their order, each once") {
  Record record;
  Runtime runtime(options());
  const ActorRef sink = spawn_scripted(runtime, [&](Scripted& self) {
    self.on<test::Ping>(
        [&](test::Ping::Reader message, Incoming&) { record.add(std::to_string(message.getNumber())); });
  });
  std::vector<std::string> expected;
  for (int i = 0; i < 500; ++i) {
    REQUIRE(runtime.send(sink, ping(i)));
    expected.push_back(std::to_string(i));
  }
  CHECK(record.wait_for(500) == expected);
}

TEST_CASE("an actor runs one message at a time, however many threads send") {
  std::atomic<int> inside{0}, most{0};
  int handled = 0;  // not atomic: the runtime's promise is what is tested
  Record record;
  Runtime runtime(options(1, 2));
  const ActorRef sink = spawn_scripted(runtime, [&](Scripted& self) {
    self.on<test::Ping>([&](test::Ping::Reader, Incoming&) {
      most = std::max(most.load(), ++inside);
      --inside;
      if (++handled == 40'000) record.add("all");
    });
  });
  std::vector<std::thread> senders;
  for (int t = 0; t < 4; ++t) {
    senders.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) {
        while (!runtime.send(sink, ping(i))) std::this_thread::yield();
      }
    });
  }
  for (auto& sender : senders) sender.join();
  REQUIRE(record.wait_for(1).size() == 1);
  CHECK(most == 1);
}

TEST_CASE("a full mailbox refuses, in count and in bytes, and takes again when there is room") {
  struct Case {
    const char* name;
    SpawnOptions options;
    std::size_t taken;
    std::size_t text_bytes;
  };
  SpawnOptions by_count, by_bytes;
  by_count.mailbox_messages = 8;
  by_bytes.mailbox_bytes = 10'000;
  for (const auto& each : {Case{"count", by_count, 8, 10}, Case{"bytes", by_bytes, 4, 2'000}}) {
    CAPTURE(each.name);
    Gate gate, entered;
    Record record;
    Runtime runtime(options());
    const ActorRef slow = spawn_scripted(
        runtime,
        [&](Scripted& self) {
          self.on<test::Ping>([&](test::Ping::Reader, Incoming&) {
            entered.open();
            gate.wait();
            record.add("handled");
          });
        },
        each.options);
    REQUIRE(runtime.send(slow, ping(0)));
    entered.wait();  // that one is out of the mailbox
    std::size_t taken = 0;
    Result<> last;
    for (int i = 0; i < 100 && last; ++i) {
      last = runtime.send(slow, ping(i, std::string(each.text_bytes, 'x')));
      if (last) ++taken;
    }
    REQUIRE_FALSE(last);
    CHECK(last.error().code() == ErrorCode::resource_exhausted);
    CHECK(taken == each.taken);
    gate.open();
    CHECK(record.wait_for(taken + 1).size() == taken + 1);
    CHECK(runtime.send(slow, ping(1)));
    CHECK(record.wait_for(taken + 2).size() == taken + 2);
  }
}

TEST_CASE("a sender is told when the actor has ended, and when its reference is of an earlier life") {
  Record record;
  Runtime runtime(options());
  const ActorRef brief = spawn_scripted(runtime, [](Scripted& self) { self.stop(); });
  runtime.spawn<Scripted>(
      {}, Scripted::Script{
              [&](Scripted& self) { self.monitor(brief); }, [&](Scripted&, const Down&) { record.add("down"); }, {}});
  record.wait_for(1);
  const auto refused = runtime.send(brief, ping(1));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::unavailable);
  for (int i = 0; i < 1000; ++i) spawn_scripted(runtime, {});  // its place is taken by others
  CHECK_FALSE(runtime.send(brief, ping(1)));
  ActorRef stale = spawn_scripted(runtime, {});
  stale.incarnation += 1;
  CHECK_FALSE(runtime.send(stale, ping(1)));
  CHECK_FALSE(runtime.send(ActorRef{}, ping(1)));
}

TEST_CASE("names are found, unique while their bearer lives, and free after") {
  Record record;
  Runtime runtime(options());
  SpawnOptions named;
  named.name = "study";
  const ActorRef first = spawn_scripted(runtime, {}, named);
  CHECK(runtime.lookup("study") == first);
  CHECK_FALSE(static_cast<bool>(runtime.lookup("other")));
  CHECK_FALSE(static_cast<bool>(spawn_scripted(runtime, {}, named)));
  runtime.spawn<Scripted>({}, Scripted::Script{[&](Scripted& self) { self.monitor(first); },
                                               [&](Scripted& self, const Down&) {
                                                 const ActorRef second = spawn_scripted(self.runtime(), {}, named);
                                                 record.add(second && second != first ? "second" : "refused");
                                               },
                                               {}});
  REQUIRE(runtime.stop(first));
  CHECK(record.wait_for(1) == std::vector<std::string>{"second"});
}

TEST_CASE("timers run in their order, once, and not when cancelled") {
  Record record;
  Runtime runtime(options());
  spawn_scripted(runtime, [&](Scripted& self) {
    using std::chrono::milliseconds;
    self.after(milliseconds(20), [&] { record.add("20"); });
    const TimerId never = self.after(milliseconds(5), [&] { record.add("cancelled"); });
    self.after(milliseconds(10), [&] { record.add("10"); });
    self.after(milliseconds(0), [&] { record.add("0"); });
    self.cancel(never);
    self.after(milliseconds(30), [&] { record.add("30"); });
  });
  CHECK(record.wait_for(4) == std::vector<std::string>{"0", "10", "20", "30"});
}

TEST_CASE("a constructor that throws spawns nobody") {
  struct Throws : Actor {
    Throws() { throw std::runtime_error("no"); }
  };
  Runtime runtime(options());
  CHECK_FALSE(static_cast<bool>(runtime.spawn<Throws>({})));
  CHECK(runtime.actors() == 0);
}

TEST_CASE("many actors come and go in the places of others") {
  Record record;
  std::atomic<int> ended{0};
  Runtime runtime(options());
  constexpr int kActors = 20'000;
  for (int i = 0; i < kActors; ++i) {
    const ActorRef ref = runtime.spawn<Scripted>(
        {}, Scripted::Script{[&](Scripted& self) { self.on<test::Ping>([&](auto, Incoming&) { self.stop(); }); },
                             {},
                             [&](Scripted&) {
                               if (++ended == kActors) record.add("all");
                             }});
    REQUIRE(static_cast<bool>(ref));
    REQUIRE(runtime.send(ref, ping(i)));
  }
  CHECK(record.wait_for(1).size() == 1);
}

TEST_CASE("shutdown stops every actor, and names those that will not end") {
  Gate gate, entered;
  Record record;
  {
    Runtime runtime(options());
    SpawnOptions named;
    named.name = "stubborn";
    const ActorRef stubborn = spawn_scripted(
        runtime,
        [&](Scripted& self) {
          self.on<test::Ping>([&](test::Ping::Reader, Incoming&) {
            entered.open();
            gate.wait();
          });
        },
        named);
    runtime.spawn<Scripted>({}, Scripted::Script{{}, {}, [&](Scripted&) { record.add("stopped"); }});
    REQUIRE(runtime.send(stubborn, ping(1)));
    entered.wait();
    const auto ended = runtime.shutdown(std::chrono::milliseconds(50));
    REQUIRE_FALSE(ended);
    CHECK(ended.error().code() == ErrorCode::deadline_exceeded);
    CHECK(ended.error().message().find("stubborn (Ping)") != std::string::npos);
    CHECK_FALSE(static_cast<bool>(spawn_scripted(runtime, {})));
    gate.open();
    CHECK(runtime.shutdown(kPatience));
    CHECK(runtime.actors() == 0);
  }
  CHECK(record.all() == std::vector<std::string>{"stopped"});
}

}  // namespace tandem::runtime
