#include "runtime/wire/frame.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <functional>

#include "runtime/base/limits.hpp"
#include "runtime/base/random.hpp"
#include "runtime/wire/crc32c.hpp"
#include "schemas/wire.capnp.h"

namespace tandem::runtime {
namespace {

/// A frame as it lies in a receive buffer: aligned.
struct Bytes {
  std::vector<std::uint64_t> words;
  std::size_t size = 0;

  explicit Bytes(const std::vector<std::byte>& bytes) : words((bytes.size() + 7) / 8), size(bytes.size()) {
    std::memcpy(words.data(), bytes.data(), bytes.size());
  }
  [[nodiscard]] std::byte* data() { return reinterpret_cast<std::byte*>(words.data()); }
  [[nodiscard]] std::span<const std::byte, kFrameHeaderBytes> header() {
    return std::span<const std::byte, kFrameHeaderBytes>(data(), kFrameHeaderBytes);
  }
  [[nodiscard]] std::span<const std::byte> body() { return {data() + kFrameHeaderBytes, size - kFrameHeaderBytes}; }
  /// Makes the checksum right again, as a hostile sender would.
  void seal() {
    std::memset(data() + 12, 0, 4);
    const std::uint32_t crc = crc32c({data(), size});
    std::memcpy(data() + 12, &crc, 4);
  }
};

Bytes a_frame(const std::string& text = "head") {
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<schemas::RemoteEnvelope>();
  root.setTarget(7);
  root.setLookup(text.c_str());
  capnp::MessageBuilder* const messages[] = {&message};
  std::vector<std::byte> out;
  REQUIRE(append_frame(out, FrameClass::control, {3, 2}, messages));
  return Bytes(out);
}

Result<> check(Bytes& bytes) {
  const auto header = parse_frame_header(bytes.header());
  if (!header) return forward_error(header);
  FrameBody body;
  return body.parse(bytes.header(), bytes.body());
}

}  // namespace

TEST_CASE("a frame comes back as it was written") {
  Bytes bytes = a_frame("who is this");
  const auto header = parse_frame_header(bytes.header());
  REQUIRE(header);
  CHECK(header->frame_class == FrameClass::control);
  CHECK(header->sequence == 3);
  CHECK(header->acknowledged == 2);
  CHECK(header->body_bytes == bytes.body().size());
  FrameBody body;
  REQUIRE(body.parse(bytes.header(), bytes.body()));
  REQUIRE(body.messages() == 1);
  capnp::SegmentArrayMessageReader reader(body.message(0), received_options(body.message(0)));
  CHECK(reader.getRoot<schemas::RemoteEnvelope>().getTarget() == 7);
  CHECK(reader.getRoot<schemas::RemoteEnvelope>().getLookup() == "who is this");
}

TEST_CASE("a frame holds two messages, of many segments") {
  capnp::MallocMessageBuilder head, payload(0, capnp::AllocationStrategy::FIXED_SIZE);
  head.initRoot<schemas::RemoteEnvelope>().setDeliver();
  payload.initRoot<schemas::RemoteEnvelope>().initError().setMessage("several segments");
  REQUIRE(payload.getSegmentsForOutput().size() > 1);
  capnp::MessageBuilder* const messages[] = {&head, &payload};
  std::vector<std::byte> out;
  REQUIRE(append_frame(out, FrameClass::message, {}, messages));
  Bytes bytes(out);
  FrameBody body;
  REQUIRE(body.parse(bytes.header(), bytes.body()));
  REQUIRE(body.messages() == 2);
  capnp::SegmentArrayMessageReader reader(body.message(1), received_options(body.message(1)));
  CHECK(reader.getRoot<schemas::RemoteEnvelope>().getError().getMessage() == "several segments");
}

TEST_CASE("a damaged frame is refused, and the error says what is wrong") {
  struct Case {
    const char* name;
    std::function<void(Bytes&)> damage;
    const char* said;
  };
  const auto put = [](std::size_t at, std::uint32_t value, bool sealed) {
    return [=](Bytes& bytes) {
      std::memcpy(bytes.data() + at, &value, 4);
      if (sealed) bytes.seal();
    };
  };
  const Case cases[] = {
      {"magic", put(0, 0xdeadbeef, true), "magic"},
      {"version",
       [](Bytes& b) {
         b.data()[4] = std::byte{9};
         b.seal();
       },
       "version 9"},
      {"class",
       [](Bytes& b) {
         b.data()[5] = std::byte{77};
         b.seal();
       },
       "unknown class 77"},
      {"flags",
       [](Bytes& b) {
         b.data()[6] = std::byte{1};
         b.seal();
       },
       "unknown flags"},
      {"empty", put(8, 0, true), "length 0"},
      {"unaligned", put(8, 13, true), "length 13"},
      {"4 GiB", put(8, 0xfffffff8U, true), "over the limit"},
      {"a bit of the body", [](Bytes& b) { b.data()[40] ^= std::byte{1}; }, "checksum"},
      {"a million segments", put(kFrameHeaderBytes, 999'999, true), "1000000 segments"},
      {"513 segments", put(kFrameHeaderBytes, 512, true), "513 segments"},
      {"a table beyond the end", put(kFrameHeaderBytes, 300, true), "cut short"},
      {"a segment beyond the end", put(kFrameHeaderBytes + 4, 0xffffffffU, true), "beyond the end"},
      {"words left over", put(kFrameHeaderBytes + 4, 1, true), ""},
  };
  for (const auto& each : cases) {
    CAPTURE(each.name);
    Bytes bytes = a_frame();
    each.damage(bytes);
    const auto checked = check(bytes);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code() == ErrorCode::data_loss);
    CHECK(checked.error().message().find(each.said) != std::string::npos);
  }
}

TEST_CASE("a message too large for its class is refused by its sender") {
  capnp::MallocMessageBuilder message;
  const std::string long_name(limits::kControlFrameBytes, 'x');
  message.initRoot<schemas::RemoteEnvelope>().setLookup(long_name.c_str());
  capnp::MessageBuilder* const messages[] = {&message};
  std::vector<std::byte> out;
  const auto added = append_frame(out, FrameClass::control, {}, messages);
  REQUIRE_FALSE(added);
  CHECK(added.error().code() == ErrorCode::resource_exhausted);
  CHECK(out.empty());
  CHECK(append_frame(out, FrameClass::message, {}, messages));
}

TEST_CASE("no change of any one byte passes unseen") {
  const Bytes good = a_frame();
  for (std::size_t at = 0; at < good.size; ++at) {
    Bytes bytes = good;
    bytes.data()[at] ^= std::byte{0x10};
    REQUIRE_FALSE(check(bytes));
  }
}

TEST_CASE("sealed nonsense never gets past the checks into memory that is not its own") {
  Random random(11);
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes = a_frame();
    const auto hits = random.uniform_int(1, 6);
    for (int hit = 0; hit < hits; ++hit) {
      const auto at =
          static_cast<std::size_t>(random.uniform_int(kFrameHeaderBytes, static_cast<std::int64_t>(bytes.size) - 1));
      bytes.data()[at] = static_cast<std::byte>(random.next());
    }
    bytes.seal();
    FrameBody body;
    if (!body.parse(bytes.header(), bytes.body())) continue;
    std::size_t words = 0;
    for (std::size_t i = 0; i < body.messages(); ++i) {
      for (const auto& segment : body.message(i)) {
        words += segment.size();
        const auto* begin = reinterpret_cast<const std::byte*>(segment.begin());
        REQUIRE(begin >= bytes.body().data());
        REQUIRE(begin + segment.size() * 8 <= bytes.body().data() + bytes.body().size());
      }
    }
    REQUIRE(words * 8 < bytes.body().size());
  }
}

}  // namespace tandem::runtime
