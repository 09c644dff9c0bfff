#include "runtime/wire/greeting.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "runtime/base/limits.hpp"
#include "tests/runtime/wire/net.hpp"

namespace tandem::runtime {
namespace {

/// One side, and what it has learnt.
struct Side {
  std::shared_ptr<Greeting> greeting;
  std::optional<Result<GreetedStream>> outcome;
  std::optional<Introduction> heard;  // by `introduce`
  std::optional<Error> refuses;       // whom it does not want
  Purpose purpose = Purpose::messages;

  void begin(std::shared_ptr<Stream> stream, Transport& transport, std::uint64_t node, const std::string& token,
             bool initiator) {
    GreetingOptions options;
    options.self.node = node;
    options.self.incarnation = 10 + node;
    options.self.purpose = purpose;
    secure_random(options.self.nonce);
    options.token = token;
    options.initiator = initiator;
    Greeting::Events events;
    events.introduce = [this, node](const Hello&, const Introduction* theirs) -> Result<Introduction> {
      if (theirs != nullptr) heard = *theirs;
      if (refuses) return tl::unexpected<Error>(*refuses);
      return Introduction{"node " + std::to_string(node), "memory:" + std::to_string(node)};
    };
    events.done = [this](Result<GreetedStream> result) {
      REQUIRE_FALSE(outcome);
      outcome.emplace(std::move(result));
    };
    greeting = std::make_shared<Greeting>(std::move(stream), transport, std::move(options), std::move(events));
    greeting->start();
  }
  [[nodiscard]] ErrorCode error() const { return outcome->error().code(); }
};

/// Node 1 connects to node 2.
struct Meeting {
  Net net;
  Side near, far;
  std::string near_token = "secret", far_token = "secret";
  std::unique_ptr<Listener> listener;

  void run() {
    auto listening = net.b->listen("memory:far", [this](Result<std::shared_ptr<Stream>> stream) {
      far.begin(*stream, *net.b, 2, far_token, false);
    });
    REQUIRE(listening);
    listener = std::move(*listening);
    net.a->connect("memory:far", [this](Result<std::shared_ptr<Stream>> stream) {
      near.begin(*stream, *net.a, 1, near_token, true);
    });
    net.run();
  }
};

}  // namespace

TEST_CASE("two that hold the token learn who the other is, whatever pieces the bytes come in") {
  for (const std::size_t chunk_bytes : {std::size_t{1}, std::size_t{7}, SIZE_MAX}) {
    CAPTURE(chunk_bytes);
    Meeting meeting;
    meeting.net.chunk_bytes = chunk_bytes;
    meeting.near.purpose = Purpose::objects;
    meeting.run();
    REQUIRE(meeting.near.outcome);
    REQUIRE(meeting.far.outcome);
    REQUIRE(*meeting.near.outcome);
    REQUIRE(*meeting.far.outcome);
    const GreetedStream& near = **meeting.near.outcome;
    const GreetedStream& far = **meeting.far.outcome;
    CHECK(near.peer.node == 2);
    CHECK(near.peer.incarnation == 12);
    CHECK(near.introduction.name == "node 2");
    CHECK(far.peer.node == 1);
    CHECK(far.peer.purpose == Purpose::objects);
    CHECK(far.introduction.address == "memory:1");
    REQUIRE(meeting.far.heard);
    CHECK(meeting.far.heard->address == "memory:1");
  }
}

TEST_CASE("the greeting takes no byte that belongs to what follows") {
  Meeting meeting;
  meeting.run();
  const std::vector<std::byte> sent(3, std::byte{42});
  std::vector<std::byte> got(16);
  std::size_t count = 0;
  (*meeting.near.outcome)->stream->write(sent, [](Result<std::size_t>) {});
  (*meeting.far.outcome)->stream->read(got, [&](Result<std::size_t> read) { count = read.value_or(0); });
  meeting.net.run();
  CHECK(count == sent.size());
  CHECK(got[2] == std::byte{42});
}

TEST_CASE("who does not hold the token gets nowhere, whichever side it is") {
  for (const auto& [near_token, far_token] : {std::pair("wrong", "secret"), std::pair("secret", "wrong")}) {
    Meeting meeting;
    meeting.near_token = near_token;
    meeting.far_token = far_token;
    meeting.run();
    REQUIRE(meeting.near.outcome);
    REQUIRE_FALSE(*meeting.near.outcome);
    CHECK(meeting.near.error() == ErrorCode::permission_denied);
    REQUIRE(meeting.far.outcome);
    CHECK_FALSE(*meeting.far.outcome);
    CHECK_FALSE(meeting.far.heard);
  }
}

TEST_CASE("who is refused is told why") {
  Meeting meeting;
  meeting.far.refuses = Error(ErrorCode::already_exists, "one is enough");
  meeting.run();
  REQUIRE(meeting.near.outcome);
  REQUIRE_FALSE(*meeting.near.outcome);
  CHECK(meeting.near.error() == ErrorCode::already_exists);
  CHECK(meeting.near.outcome->error().message() == "one is enough");
  REQUIRE(meeting.far.outcome);
  CHECK(meeting.far.error() == ErrorCode::already_exists);
}

TEST_CASE("a side that connected and does not want the peer after all ends both") {
  Meeting meeting;
  meeting.near.refuses = Error(ErrorCode::failed_precondition, "met already");
  meeting.run();
  REQUIRE(meeting.near.outcome);
  CHECK(meeting.near.error() == ErrorCode::failed_precondition);
  REQUIRE(meeting.far.outcome);
  CHECK_FALSE(*meeting.far.outcome);
}

TEST_CASE("a peer that says nothing is dropped at the deadline of the greeting") {
  Net net;
  Side far;
  std::shared_ptr<Stream> silent;
  auto listener = net.b->listen(
      "memory:far", [&](Result<std::shared_ptr<Stream>> stream) { far.begin(*stream, *net.b, 2, "secret", false); });
  net.a->connect("memory:far", [&](Result<std::shared_ptr<Stream>> stream) { silent = *stream; });
  net.run(limits::kHandshakeDeadline / 2);
  CHECK_FALSE(far.outcome);
  net.run(limits::kHandshakeDeadline);
  REQUIRE(far.outcome);
  CHECK(far.error() == ErrorCode::deadline_exceeded);
}

TEST_CASE("what is no greeting is refused at its first bytes") {
  Net net;
  Side far;
  std::shared_ptr<Stream> stream;
  auto listener = net.b->listen("memory:far", [&](Result<std::shared_ptr<Stream>> accepted) {
    far.begin(*accepted, *net.b, 2, "secret", false);
  });
  net.a->connect("memory:far", [&](Result<std::shared_ptr<Stream>> connected) { stream = *connected; });
  net.run();
  auto stray = encode_hello(Hello{});
  stray[0] ^= std::byte{0xff};
  stream->write(stray, [](Result<std::size_t>) {});
  net.run();
  REQUIRE(far.outcome);
  CHECK(far.error() == ErrorCode::data_loss);
}

}  // namespace tandem::runtime
