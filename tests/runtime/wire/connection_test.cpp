#include "runtime/wire/connection.hpp"

#include <doctest/doctest.h>

#include <string>

#include "runtime/base/limits.hpp"
#include "schemas/wire.capnp.h"
#include "tests/runtime/wire/net.hpp"

namespace tandem::runtime {
namespace {

/// One side, and what it has seen.
struct Side {
  std::shared_ptr<Connection> connection;
  std::vector<std::uint64_t> targets;
  std::vector<Error> closed;

  void begin(std::shared_ptr<Stream> stream, std::uint64_t peer) {
    Connection::Events events;
    events.on_frame = [this](const FrameHeader&, const FrameBody& body) -> Result<> {
      capnp::SegmentArrayMessageReader reader(body.message(0), received_options(body.message(0)));
      targets.push_back(reader.getRoot<schemas::RemoteEnvelope>().getTarget());
      return {};
    };
    events.on_closed = [this](const Error& why) { closed.push_back(why); };
    connection = std::make_shared<Connection>(std::move(stream), peer, std::move(events));
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

  explicit Pair(std::size_t chunk_bytes = SIZE_MAX) {
    net.chunk_bytes = chunk_bytes;
    auto listening =
        net.b->listen("memory:far", [this](Result<std::shared_ptr<Stream>> stream) { far.begin(*stream, 1); });
    REQUIRE(listening);
    listener = std::move(*listening);
    net.a->connect("memory:far", [this](Result<std::shared_ptr<Stream>> stream) { near.begin(*stream, 2); });
    net.run();
  }
  ~Pair() {
    near.connection->abandon();
    far.connection->abandon();
  }
};

}  // namespace

TEST_CASE("frames arrive in order, in pieces or whole") {
  for (const std::size_t chunk_bytes : {std::size_t{1}, std::size_t{7}, SIZE_MAX}) {
    CAPTURE(chunk_bytes);
    Pair pair(chunk_bytes);
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

TEST_CASE("bytes that are no frame close the connection once, and say so") {
  Net net;
  Side far;
  std::shared_ptr<Stream> stream;
  auto listener =
      net.b->listen("memory:far", [&](Result<std::shared_ptr<Stream>> accepted) { far.begin(*accepted, 1); });
  net.a->connect("memory:far", [&](Result<std::shared_ptr<Stream>> connected) { stream = *connected; });
  net.run();
  const std::vector<std::byte> stray(2 * kFrameHeaderBytes, std::byte{0x5a});
  stream->write(stray, [](Result<std::size_t>) {});
  net.run();
  REQUIRE(far.closed.size() == 1);
  CHECK(far.closed.front().code() == ErrorCode::data_loss);
  CHECK(far.targets.empty());
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
