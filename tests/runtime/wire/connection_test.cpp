#include "runtime/wire/connection.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <optional>

#include "runtime/base/limits.hpp"
#include "runtime/wire/memory_transport.hpp"
#include "schemas/wire.capnp.h"

namespace tandem::runtime {
namespace {

/// A network whose tasks run when the test says, in the order of their time.
struct Net {
  std::multimap<Duration, UniqueFunction<void()>> tasks;
  Duration now{};
  std::size_t chunk_bytes = SIZE_MAX;
  MemoryNetwork network{[this](std::uint64_t, Duration delay, UniqueFunction<void()> task) {
                          tasks.emplace(now + delay, std::move(task));
                        },
                        [this](std::uint64_t, std::uint64_t) {
                          return MemoryNetwork::Conditions{std::chrono::microseconds(10), chunk_bytes};
                        }};
  std::unique_ptr<Transport> a = network.transport(1), b = network.transport(2);

  ~Net() { tasks.clear(); }

  void run(Duration until = std::chrono::seconds(1)) {
    const Duration end = now + until;
    while (!tasks.empty() && tasks.begin()->first <= end) {
      auto task = tasks.extract(tasks.begin());
      now = std::max(now, task.key());
      task.mapped()();
    }
  }
};

/// One side, and what it has seen.
struct Side {
  std::shared_ptr<Connection> connection;
  std::optional<Hello> peer;
  std::vector<std::uint64_t> targets;
  std::vector<Error> closed;

  void begin(std::shared_ptr<Stream> stream, Transport& transport, std::uint64_t node, const std::string& token,
             bool initiator) {
    ConnectionOptions options;
    options.self.node = node;
    options.self.incarnation = 1;
    secure_random(options.self.nonce);
    options.token = token;
    options.initiator = initiator;
    Connection::Events events;
    events.on_open = [this](const Hello& hello) -> Result<> {
      peer = hello;
      return {};
    };
    events.on_frame = [this](const FrameHeader&, const FrameBody& body) -> Result<> {
      capnp::SegmentArrayMessageReader reader(body.message(0), received_options(body.message(0)));
      targets.push_back(reader.getRoot<schemas::RemoteEnvelope>().getTarget());
      return {};
    };
    events.on_closed = [this](const Error& why) { closed.push_back(why); };
    connection = std::make_shared<Connection>(std::move(stream), transport, std::move(options), std::move(events));
    connection->start();
  }
  Result<> send(std::uint64_t target) {
    capnp::MallocMessageBuilder message;
    message.initRoot<schemas::RemoteEnvelope>().setTarget(target);
    capnp::MessageBuilder* const messages[] = {&message};
    return connection->send(FrameClass::control, messages);
  }
};

struct Pair {
  Net net;
  Side near, far;
  std::unique_ptr<Listener> listener;

  explicit Pair(const std::string& near_token = "secret", const std::string& far_token = "secret",
                std::size_t chunk_bytes = SIZE_MAX) {
    net.chunk_bytes = chunk_bytes;
    auto listening = net.b->listen("memory:far", [this, far_token](Result<std::shared_ptr<Stream>> stream) {
      far.begin(*stream, *net.b, 2, far_token, false);
    });
    REQUIRE(listening);
    listener = std::move(*listening);
    net.a->connect("memory:far", [this, near_token](Result<std::shared_ptr<Stream>> stream) {
      near.begin(*stream, *net.a, 1, near_token, true);
    });
    net.run();
  }
  ~Pair() {
    if (near.connection) near.connection->abandon();
    if (far.connection) far.connection->abandon();
  }
};

}  // namespace

TEST_CASE("two that hold the token learn who the other is, and frames arrive in order, in pieces or whole") {
  for (const std::size_t chunk_bytes : {std::size_t{1}, std::size_t{7}, SIZE_MAX}) {
    CAPTURE(chunk_bytes);
    Pair pair("secret", "secret", chunk_bytes);
    REQUIRE(pair.near.peer);
    REQUIRE(pair.far.peer);
    CHECK(pair.near.peer->node == 2);
    CHECK(pair.far.peer->node == 1);
    std::vector<std::uint64_t> sent;
    for (std::uint64_t i = 0; i < 50; ++i) {
      REQUIRE(pair.near.send(i));
      sent.push_back(i);
    }
    pair.net.run();
    CHECK(pair.far.targets == sent);
    CHECK(pair.far.closed.empty());
  }
}

TEST_CASE("who does not hold the token gets nowhere, whichever side it is") {
  for (const auto& [near_token, far_token] : {std::pair("wrong", "secret"), std::pair("secret", "wrong")}) {
    Pair pair(near_token, far_token);
    CHECK_FALSE(pair.near.peer);
    CHECK_FALSE(pair.far.peer);
    REQUIRE(pair.near.closed.size() == 1);
    CHECK(pair.near.closed.front().code() == ErrorCode::permission_denied);
    CHECK(pair.far.closed.size() == 1);
    CHECK_FALSE(pair.near.send(1));
  }
}

TEST_CASE("a peer that says nothing is dropped at the deadline of the greeting") {
  Net net;
  Side far;
  std::shared_ptr<Stream> silent;
  auto listener = net.b->listen(
      "memory:far", [&](Result<std::shared_ptr<Stream>> stream) { far.begin(*stream, *net.b, 2, "secret", false); });
  net.a->connect("memory:far", [&](Result<std::shared_ptr<Stream>> stream) { silent = *stream; });
  net.run(limits::kHandshakeDeadline / 2);
  CHECK(far.closed.empty());
  net.run(limits::kHandshakeDeadline);
  REQUIRE(far.closed.size() == 1);
  CHECK(far.closed.front().code() == ErrorCode::deadline_exceeded);
}

TEST_CASE("bytes that are no frame close the connection once, and say so") {
  Pair pair;
  // A second greeting where a frame should come.
  auto stray = encode_hello(Hello{});
  auto raw = std::make_shared<Side>();
  std::shared_ptr<Stream> stream;
  Side far;
  auto listener = pair.net.b->listen("memory:other", [&](Result<std::shared_ptr<Stream>> accepted) {
    far.begin(*accepted, *pair.net.b, 2, "secret", false);
  });
  pair.net.a->connect("memory:other", [&](Result<std::shared_ptr<Stream>> connected) { stream = *connected; });
  pair.net.run();
  stray[0] ^= std::byte{0xff};
  stream->write(stray, [](Result<std::size_t>) {});
  pair.net.run();
  REQUIRE(far.closed.size() == 1);
  CHECK(far.closed.front().code() == ErrorCode::data_loss);
  CHECK_FALSE(far.peer);
}

TEST_CASE("a connection that takes no bytes away refuses more than its bound, and says so") {
  Pair pair;
  std::size_t sent = 0;
  Result<> last;
  const std::string name(limits::kControlFrameBytes - 256, 'x');
  while (last && sent < 10'000) {
    capnp::MallocMessageBuilder message;
    message.initRoot<schemas::RemoteEnvelope>().setLookup(name.c_str());
    capnp::MessageBuilder* const messages[] = {&message};
    last = pair.near.connection->send(FrameClass::control, messages);
    if (last) ++sent;
  }
  REQUIRE_FALSE(last);
  CHECK(last.error().code() == ErrorCode::resource_exhausted);
  CHECK((sent + 2) * limits::kControlFrameBytes >= limits::kConnectionQueueBytes);
  pair.net.run();
  CHECK(pair.far.targets.size() == sent);
  CHECK(pair.near.send(1));
}

TEST_CASE("closing when written lets everything through first") {
  Pair pair;
  for (std::uint64_t i = 0; i < 20; ++i) REQUIRE(pair.near.send(i));
  pair.near.connection->close_when_written({ErrorCode::cancelled, "done"});
  CHECK_FALSE(pair.near.send(99));
  pair.net.run();
  CHECK(pair.far.targets.size() == 20);
  CHECK(pair.far.closed.size() == 1);
  REQUIRE(pair.near.closed.size() == 1);
  CHECK(pair.near.closed.front().message() == "done");
}

TEST_CASE("a reset ends both sides once") {
  Pair pair;
  CHECK(pair.net.network.cut(1, 2) == 1);
  pair.net.run();
  CHECK(pair.near.closed.size() == 1);
  CHECK(pair.far.closed.size() == 1);
}

}  // namespace tandem::runtime
