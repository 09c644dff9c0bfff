#include <doctest/doctest.h>

#include <optional>
#include <thread>

#include "tests/runtime/actor/fixture.hpp"

namespace tandem::runtime {
namespace {

std::string told(const Result<Reply<test::Pong>>& answer) {
  return answer ? std::to_string(answer->root().getNumber()) : std::string(to_string(answer.error().code()));
}

}  // namespace

TEST_CASE("an ask is resolved by the answer, in the asker's own turn") {
  Record record;
  Runtime runtime(options());
  const ActorRef server = spawn_scripted(runtime, answer_pings);
  spawn_scripted(runtime, [&](Scripted& self) {
    self.ask<test::Pong>(server, ping(41), kPatience, [&](auto answer) { record.add(told(answer)); });
    record.add("asked");
  });
  CHECK(record.wait_for(2) == std::vector<std::string>{"asked", "42"});
}

TEST_CASE("every way an ask can fail has its own error, told once") {
  struct Case {
    const char* name;
    std::function<void(Scripted&)> server;
    ErrorCode code;
  };
  auto deferred = std::make_shared<std::optional<Responder>>();
  const Case cases[] = {
      {"the peer says so",
       [](Scripted& self) {
         self.on<test::Ping>([](auto, Incoming& in) { in.reply_error({ErrorCode::not_found, "no such trial"}); });
       },
       ErrorCode::not_found},
      {"the handler forgets to answer", [](Scripted& self) { self.on<test::Ping>([](auto, Incoming&) {}); },
       ErrorCode::unavailable},
      {"nobody handles the type", [](Scripted&) {}, ErrorCode::invalid_argument},
      {"the handler throws",
       [](Scripted& self) { self.on<test::Ping>([](auto, Incoming&) { throw std::runtime_error("broken"); }); },
       ErrorCode::internal},
      {"the peer stops with the question deferred",
       [deferred](Scripted& self) {
         self.on<test::Ping>([&self, deferred](auto, Incoming& in) {
           auto kept = std::make_shared<Responder>(in.defer());
           self.after(std::chrono::hours(1), [kept] {});
           self.stop();
         });
       },
       ErrorCode::unavailable},
      {"the peer never answers",
       [deferred](Scripted& self) {
         self.on<test::Ping>([deferred](auto, Incoming& in) { deferred->emplace(in.defer()); });
       },
       ErrorCode::deadline_exceeded},
      {"the answer has another type",
       [](Scripted& self) { self.on<test::Ping>([](auto, Incoming& in) { in.reply(ping(1)); }); },
       ErrorCode::failed_precondition},
  };
  for (const auto& each : cases) {
    CAPTURE(each.name);
    Record record;
    Runtime runtime(options());
    const ActorRef server = spawn_scripted(runtime, each.server);
    const Duration deadline =
        each.code == ErrorCode::deadline_exceeded ? Duration(std::chrono::milliseconds(20)) : kPatience;
    spawn_scripted(runtime, [&](Scripted& self) {
      self.ask<test::Pong>(server, ping(1), deadline, [&](auto answer) { record.add(told(answer)); });
    });
    CHECK(record.wait_for(1) == std::vector<std::string>{std::string(to_string(each.code))});
    deferred->reset();  // answers late, which nobody must hear
    REQUIRE(runtime.shutdown(kPatience));
    CHECK(record.all().size() == 1);
  }
}

TEST_CASE("asking nobody, the dead or the full is an error in a later turn") {
  Record record;
  Gate gate, entered;
  Runtime runtime(options());
  SpawnOptions small;
  small.mailbox_messages = 1;
  const ActorRef full = spawn_scripted(
      runtime,
      [&](Scripted& self) {
        self.on<test::Ping>([&](auto, Incoming&) {
          entered.open();
          gate.wait();
        });
      },
      small);
  REQUIRE(runtime.send(full, ping(0)));
  entered.wait();
  REQUIRE(runtime.send(full, ping(1)));
  spawn_scripted(runtime, [&](Scripted& self) {
    const auto record_answer = [&](auto answer) { record.add(told(answer)); };
    self.ask<test::Pong>(ActorRef{}, ping(1), kPatience, record_answer);
    self.ask<test::Pong>(ActorRef{1, 1, 12345678}, ping(1), kPatience, record_answer);
    self.ask<test::Pong>(ActorRef{99, 1, 1}, ping(1), kPatience, record_answer);
    self.ask<test::Pong>(full, ping(1), kPatience, record_answer);
    record.add("asked");
  });
  CHECK(record.wait_for(5) ==
        std::vector<std::string>{"asked", "invalid_argument", "unavailable", "unavailable", "resource_exhausted"});
  gate.open();
}

TEST_CASE("a deferred question is answered from a later turn, or from another thread") {
  Gate handed_over;
  Responder kept;  // handed to the thread by the gate
  std::thread answering([&] {
    handed_over.wait();
    kept.reply(pong(20));
  });
  {
    Runtime runtime(options());
    const ActorRef server = spawn_scripted(runtime, [&](Scripted& self) {
      self.on<test::Ping>([&](test::Ping::Reader question, Incoming& in) {
        if (question.getNumber() == 1) {
          self.after(std::chrono::milliseconds(1), [later = in.defer()]() mutable { later.reply(pong(10)); });
        } else {
          kept = in.defer();
          handed_over.open();
        }
      });
    });
    for (int i = 1; i <= 2; ++i) {
      const auto answer = runtime.ask_blocking<test::Pong>(server, ping(i), kPatience);
      CHECK(answer);
      if (answer) CHECK(answer->root().getNumber() == i * 10);
    }
    handed_over.open();
    answering.join();
  }
}

TEST_CASE("a plain thread asks and owns the answer, also beyond the runtime's life") {
  std::optional<Reply<test::Pong>> kept;
  {
    Runtime runtime(options());
    const ActorRef server = spawn_scripted(runtime, answer_pings);
    auto answer = runtime.ask_blocking<test::Pong>(server, ping(1), kPatience);
    REQUIRE(answer);
    kept.emplace(std::move(*answer));
    const auto late = runtime.ask_blocking<test::Pong>(
        spawn_scripted(runtime,
                       [](Scripted& self) {
                         self.on<test::Ping>([&self](auto, Incoming& in) {
                           self.after(kPatience, [waits = std::make_shared<Responder>(in.defer())] {});
                         });
                       }),
        ping(1), std::chrono::milliseconds(10));
    REQUIRE_FALSE(late);
    CHECK(late.error().code() == ErrorCode::deadline_exceeded);
  }
  CHECK(kept->root().getNumber() == 2);
}

TEST_CASE("a blocking ask from an actor is refused rather than left to hang") {
  Record record;
  Runtime runtime(options());
  const ActorRef server = spawn_scripted(runtime, answer_pings);
  spawn_scripted(runtime, [&](Scripted& self) {
    const auto answer = self.runtime().ask_blocking<test::Pong>(server, ping(1), kPatience);
    record.add(told(answer));
  });
  CHECK(record.wait_for(1) == std::vector<std::string>{"failed_precondition"});
}

TEST_CASE("ten thousand asks in flight are each resolved once") {
  Record record;
  Runtime runtime(options());
  SpawnOptions wide;
  wide.mailbox_messages = 10'000;
  const ActorRef server = spawn_scripted(runtime, answer_pings, wide);
  auto counts = std::make_shared<std::vector<int>>(10'000, 0);
  auto open = std::make_shared<int>(10'000);
  spawn_scripted(runtime, [&, counts, open](Scripted& self) {
    for (int i = 0; i < 10'000; ++i) {
      self.ask<test::Pong>(server, ping(i), kPatience, [&, counts, open, i](auto answer) {
        if (answer && answer->root().getNumber() == i + 1) ++counts->at(static_cast<std::size_t>(i));
        if (--*open == 0) record.add("all");
      });
    }
  });
  REQUIRE(record.wait_for(1).size() == 1);
  CHECK(*counts == std::vector<int>(10'000, 1));
}

}  // namespace tandem::runtime
