#include "runtime/wire/blocking_channel.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "schemas/wire.capnp.h"

namespace tandem::runtime {
namespace {

struct SocketPair {
  int ends[2] = {-1, -1};
  SocketPair() { REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0); }
  ~SocketPair() {
    close(0);
    close(1);
  }
  void close(int end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
};

}  // namespace

TEST_CASE("messages cross a socket pair in order, and its end is told apart from an error") {
  SocketPair pair;
  BlockingChannel writer(pair.ends[0]), reader(pair.ends[1]);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    capnp::MallocMessageBuilder message;
    message.initRoot<schemas::RemoteEnvelope>().setTarget(i);
    REQUIRE(writer.write(message));
  }
  pair.close(0);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const auto received = reader.read();
    REQUIRE(received);
    REQUIRE(received->has_value());
    std::uint64_t target = 0;
    CHECK((*received)->read<schemas::RemoteEnvelope>([&](auto root) { target = root.getTarget(); }));
    CHECK(target == i);
  }
  const auto end = reader.read();
  REQUIRE(end);
  CHECK_FALSE(end->has_value());
}

TEST_CASE("a frame cut short is an error, not an end") {
  SocketPair pair;
  std::vector<std::byte> bytes;
  capnp::MallocMessageBuilder message;
  message.initRoot<schemas::RemoteEnvelope>();
  capnp::MessageBuilder* const messages[] = {&message};
  REQUIRE(append_frame(bytes, FrameClass::message, {1, 0}, messages));
  for (const std::size_t kept : {std::size_t{1}, kFrameHeaderBytes, bytes.size() - 1}) {
    CAPTURE(kept);
    SocketPair cut;
    REQUIRE(::write(cut.ends[0], bytes.data(), kept) == static_cast<ssize_t>(kept));
    cut.close(0);
    const auto received = BlockingChannel(cut.ends[1]).read();
    REQUIRE_FALSE(received);
    CHECK(received.error().code() == ErrorCode::data_loss);
  }
}

TEST_CASE("writing to a closed peer is an error, not a signal") {
  SocketPair pair;
  pair.close(1);
  capnp::MallocMessageBuilder message;
  message.initRoot<schemas::RemoteEnvelope>();
  const auto written = BlockingChannel(pair.ends[0]).write(message);
  REQUIRE_FALSE(written);
  CHECK(written.error().code() == ErrorCode::unavailable);
}

}  // namespace tandem::runtime
