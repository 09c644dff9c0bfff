/// Frame: a fixed header and one or two Cap'n Proto messages. Everything that can be checked before Cap'n Proto sees
/// a byte is checked here. schemas/WIRE.md describes the layout.
#pragma once

#include <capnp/message.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/result.hpp"

namespace tandem::runtime {

enum class FrameClass : std::uint8_t {
  control = 1,  ///< names, monitors, errors: small
  message = 2,  ///< what actors say
};

/// Largest body of a class, in bytes.
[[nodiscard]] std::uint32_t frame_limit(FrameClass frame_class) noexcept;

struct FrameHeader {
  FrameClass frame_class = FrameClass::control;
  std::uint32_t body_bytes = 0;
  std::uint32_t checksum = 0;      ///< CRC-32C of the header, this field 0, and the body
  std::uint64_t sequence = 0;      ///< 1 for the first frame of a connection, then consecutive
  std::uint64_t acknowledged = 0;  ///< sequence of the last frame received the other way
};

inline constexpr std::size_t kFrameHeaderBytes = 32;

/// Refuses a wrong magic, version, class, flag or length before any memory is taken for the body.
[[nodiscard]] Result<FrameHeader> parse_frame_header(std::span<const std::byte, kFrameHeaderBytes> bytes);

using MessageSegments = kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>>;

/// The checked body of a frame. Points into the bytes it was parsed from; reusable.
class FrameBody {
 public:
  /// `body` must be aligned to 8 bytes. Checks the checksum, then every segment table: at most limits::kSegments
  /// segments, sums exact, at most two messages.
  Result<> parse(std::span<const std::byte, kFrameHeaderBytes> header, std::span<const std::byte> body);

  [[nodiscard]] std::size_t messages() const noexcept { return message_count_; }
  [[nodiscard]] MessageSegments message(std::size_t index) const;

 private:
  static constexpr std::size_t kMessages = 2;
  Result<> parse_message(std::span<const capnp::word>& rest);

  std::vector<kj::ArrayPtr<const capnp::word>> segments_;
  std::size_t message_ends_[kMessages] = {};
  std::size_t message_count_ = 0;
};

/// How received messages are read: limits::kNesting, and a traversal limit that suits their size.
[[nodiscard]] capnp::ReaderOptions received_options(MessageSegments segments);

struct FrameStamp {
  std::uint64_t sequence = 1;
  std::uint64_t acknowledged = 0;
};

/// Appends one frame. Error resource_exhausted: larger than its class allows; nothing is appended then.
Result<> append_frame(std::vector<std::byte>& out, FrameClass frame_class, FrameStamp stamp,
                      std::span<capnp::MessageBuilder* const> messages);

}  // namespace tandem::runtime
