#include "runtime/wire/frame.hpp"

#include <bit>
#include <cstring>

#include "runtime/base/limits.hpp"
#include "runtime/wire/crc32c.hpp"

namespace tandem::runtime {
namespace {

static_assert(std::endian::native == std::endian::little, "the wire is little-endian, as Cap'n Proto's");

constexpr std::uint32_t kMagic = 0x644e4154;  // "TANd"
constexpr std::uint8_t kVersion = 1;

constexpr std::size_t kMagicAt = 0, kVersionAt = 4, kClassAt = 5, kFlagsAt = 6, kLengthAt = 8, kChecksumAt = 12,
                      kSequenceAt = 16, kAcknowledgedAt = 24;

template <class T>
T load(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}
template <class T>
void store(std::byte* bytes, std::size_t at, T value) {
  std::memcpy(bytes + at, &value, sizeof(T));
}

std::uint32_t frame_checksum(std::span<const std::byte> header, std::span<const std::byte> body) {
  static constexpr std::byte kZero[4] = {};
  std::uint32_t crc = crc32c(header.first(kChecksumAt));
  crc = crc32c(kZero, crc);
  crc = crc32c(header.subspan(kSequenceAt, kFrameHeaderBytes - kSequenceAt), crc);
  return crc32c(body, crc);
}

/// Words that a message takes in a frame: its segment table and its segments.
std::size_t framed_words(MessageSegments segments) {
  std::size_t words = segments.size() / 2 + 1;
  for (const auto& segment : segments) words += segment.size();
  return words;
}

void append_message(std::byte*& at, MessageSegments segments) {
  const auto count = static_cast<std::uint32_t>(segments.size());
  store<std::uint32_t>(at, 0, count - 1);
  for (std::uint32_t i = 0; i < count; ++i) {
    store<std::uint32_t>(at, 4 + 4 * std::size_t{i}, static_cast<std::uint32_t>(segments[i].size()));
  }
  if (count % 2 == 0) store<std::uint32_t>(at, 4 + 4 * std::size_t{count}, 0);
  at += (segments.size() / 2 + 1) * sizeof(capnp::word);
  for (const auto& segment : segments) {
    std::memcpy(at, segment.begin(), segment.size() * sizeof(capnp::word));
    at += segment.size() * sizeof(capnp::word);
  }
}

}  // namespace

std::uint32_t frame_limit(FrameClass frame_class) noexcept {
  return frame_class == FrameClass::control ? limits::kControlFrameBytes : limits::kFrameBytes;
}

Result<FrameHeader> parse_frame_header(std::span<const std::byte, kFrameHeaderBytes> bytes) {
  if (const auto magic = load<std::uint32_t>(bytes, kMagicAt); magic != kMagic) {
    return fail(ErrorCode::data_loss, "frame: magic is 0x{:08x}, not 0x{:08x}", magic, kMagic);
  }
  if (const auto version = load<std::uint8_t>(bytes, kVersionAt); version != kVersion) {
    return fail(ErrorCode::data_loss, "frame: version {} is not {}", version, kVersion);
  }
  const auto frame_class = load<std::uint8_t>(bytes, kClassAt);
  if (frame_class != static_cast<std::uint8_t>(FrameClass::control) &&
      frame_class != static_cast<std::uint8_t>(FrameClass::message)) {
    return fail(ErrorCode::data_loss, "frame: unknown class {}", frame_class);
  }
  if (const auto flags = load<std::uint16_t>(bytes, kFlagsAt); flags != 0) {
    return fail(ErrorCode::data_loss, "frame: unknown flags 0x{:04x}", flags);
  }
  FrameHeader header;
  header.frame_class = static_cast<FrameClass>(frame_class);
  header.body_bytes = load<std::uint32_t>(bytes, kLengthAt);
  header.checksum = load<std::uint32_t>(bytes, kChecksumAt);
  header.sequence = load<std::uint64_t>(bytes, kSequenceAt);
  header.acknowledged = load<std::uint64_t>(bytes, kAcknowledgedAt);
  if (header.body_bytes == 0 || header.body_bytes % sizeof(capnp::word) != 0) {
    return fail(ErrorCode::data_loss, "frame: length {} is not a positive multiple of 8", header.body_bytes);
  }
  if (header.body_bytes > frame_limit(header.frame_class)) {
    return fail(ErrorCode::data_loss, "frame: length {} is over the limit of its class, {}", header.body_bytes,
                frame_limit(header.frame_class));
  }
  return header;
}

Result<> FrameBody::parse(std::span<const std::byte, kFrameHeaderBytes> header, std::span<const std::byte> body) {
  segments_.clear();
  message_count_ = 0;
  const auto announced = load<std::uint32_t>(header, kChecksumAt);
  if (const std::uint32_t computed = frame_checksum(header, body); computed != announced) {
    return fail(ErrorCode::data_loss, "frame: checksum 0x{:08x} does not match 0x{:08x}", announced, computed);
  }
  std::span<const capnp::word> rest(reinterpret_cast<const capnp::word*>(body.data()),
                                    body.size() / sizeof(capnp::word));
  while (!rest.empty()) {
    if (message_count_ == kMessages) return fail(ErrorCode::data_loss, "frame: more than {} messages", kMessages);
    if (auto parsed = parse_message(rest); !parsed) return parsed;
    message_ends_[message_count_++] = segments_.size();
  }
  return {};
}

Result<> FrameBody::parse_message(std::span<const capnp::word>& rest) {
  const auto table = std::as_bytes(rest);
  const auto last = load<std::uint32_t>(table, 0);  // number of segments, less one
  if (last >= limits::kSegments) {
    return fail(ErrorCode::data_loss, "frame: {} segments, at most {} are allowed", std::uint64_t{last} + 1,
                limits::kSegments);
  }
  const std::size_t count = std::size_t{last} + 1;
  const std::size_t table_words = count / 2 + 1;
  if (table_words > rest.size()) return fail(ErrorCode::data_loss, "frame: the segment table is cut short");
  std::span<const capnp::word> data = rest.subspan(table_words);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t words = load<std::uint32_t>(table, 4 + 4 * i);
    if (words > data.size()) {
      return fail(ErrorCode::data_loss, "frame: segment {} of {} words reaches {} words beyond the end", i, words,
                  words - data.size());
    }
    segments_.emplace_back(data.data(), words);
    data = data.subspan(words);
  }
  rest = data;
  return {};
}

MessageSegments FrameBody::message(std::size_t index) const {
  const std::size_t begin = index == 0 ? 0 : message_ends_[index - 1];
  return {segments_.data() + begin, message_ends_[index] - begin};
}

capnp::ReaderOptions received_options(MessageSegments segments) {
  std::uint64_t words = 0;
  for (const auto& segment : segments) words += segment.size();
  capnp::ReaderOptions options;
  // Every get of a list counts anew, so a handler may read each byte a few times, and no more.
  options.traversalLimitInWords = 4 * words + 1024;
  options.nestingLimit = limits::kNesting;
  return options;
}

Result<> append_frame(std::vector<std::byte>& out, FrameClass frame_class, FrameStamp stamp,
                      std::span<capnp::MessageBuilder* const> messages) {
  std::size_t words = 0;
  for (auto* message : messages) {
    const auto segments = message->getSegmentsForOutput();
    if (segments.size() == 0 || segments.size() > limits::kSegments) {
      return fail(ErrorCode::resource_exhausted, "a message of {} segments; a frame takes 1 to {}", segments.size(),
                  limits::kSegments);
    }
    words += framed_words(segments);
  }
  const std::size_t body_bytes = words * sizeof(capnp::word);
  if (body_bytes > frame_limit(frame_class)) {
    return fail(ErrorCode::resource_exhausted, "a message of {} bytes; a frame takes at most {}", body_bytes,
                frame_limit(frame_class));
  }
  const std::size_t begin = out.size();
  out.resize(begin + kFrameHeaderBytes + body_bytes);
  std::byte* header = out.data() + begin;
  store(header, kMagicAt, kMagic);
  store(header, kVersionAt, kVersion);
  store(header, kClassAt, static_cast<std::uint8_t>(frame_class));
  store(header, kFlagsAt, std::uint16_t{0});
  store(header, kLengthAt, static_cast<std::uint32_t>(body_bytes));
  store(header, kSequenceAt, stamp.sequence);
  store(header, kAcknowledgedAt, stamp.acknowledged);
  std::byte* at = header + kFrameHeaderBytes;
  for (auto* message : messages) append_message(at, message->getSegmentsForOutput());
  store(header, kChecksumAt, frame_checksum({header, kFrameHeaderBytes}, {header + kFrameHeaderBytes, body_bytes}));
  return {};
}

}  // namespace tandem::runtime
