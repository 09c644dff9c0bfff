#include "runtime/wire/blocking_channel.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace tandem::runtime {

ReceivedMessage::ReceivedMessage(std::vector<std::uint64_t> words, FrameBody body)
    : words_(std::move(words)), body_(std::make_unique<FrameBody>(std::move(body))) {
  const MessageSegments segments = body_->message(0);
  reader_ = std::make_unique<capnp::SegmentArrayMessageReader>(segments, received_options(segments));
}

Result<> BlockingChannel::write(capnp::MessageBuilder& message) {
  std::vector<std::byte> bytes;
  capnp::MessageBuilder* const messages[] = {&message};
  if (auto added = append_frame(bytes, FrameClass::message, {sent_ + 1, received_}, messages); !added) return added;
  for (std::size_t at = 0; at < bytes.size();) {
    ssize_t count = ::send(descriptor_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (count < 0 && errno == ENOTSOCK) count = ::write(descriptor_, bytes.data() + at, bytes.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(ErrorCode::unavailable, "cannot write a frame: {}", std::strerror(errno));
    at += static_cast<std::size_t>(count);
  }
  ++sent_;
  return {};
}

Result<std::optional<ReceivedMessage>> BlockingChannel::read() {
  std::array<std::byte, kFrameHeaderBytes> header_bytes;
  const auto begun = read_exactly(header_bytes.data(), header_bytes.size());
  if (!begun) return forward_error(begun);
  if (!*begun) return std::optional<ReceivedMessage>();
  const auto header = parse_frame_header(header_bytes);
  if (!header) return forward_error(header);
  if (header->sequence != received_ + 1) {
    return fail(ErrorCode::data_loss, "frame: number {} follows {}", header->sequence, received_);
  }
  std::vector<std::uint64_t> words(header->body_bytes / sizeof(std::uint64_t));
  const auto whole = read_exactly(reinterpret_cast<std::byte*>(words.data()), header->body_bytes);
  if (!whole) return forward_error(whole);
  if (!*whole) return fail(ErrorCode::data_loss, "frame: cut short after its header");
  FrameBody body;
  if (auto parsed = body.parse(header_bytes, std::as_bytes(std::span(words))); !parsed) return forward_error(parsed);
  if (body.messages() != 1) return fail(ErrorCode::data_loss, "frame: {} messages, not 1", body.messages());
  ++received_;
  return std::optional<ReceivedMessage>(ReceivedMessage(std::move(words), std::move(body)));
}

Result<bool> BlockingChannel::read_exactly(std::byte* into, std::size_t count) {
  for (std::size_t at = 0; at < count;) {
    const ssize_t got = ::read(descriptor_, into + at, count - at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(ErrorCode::unavailable, "cannot read a frame: {}", std::strerror(errno));
    if (got == 0 && at == 0) return false;
    if (got == 0) return fail(ErrorCode::data_loss, "frame: cut short, {} of {} bytes", at, count);
    at += static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace tandem::runtime
