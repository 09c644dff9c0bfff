#include "runtime/host/control_frame.hpp"

#include <kj/array.h>
#include <kj/exception.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "runtime/base/file_system.hpp"
#include "runtime/base/limits.hpp"

namespace tandem::runtime {

namespace {

constexpr std::size_t kHeaderBytes = sizeof(std::uint64_t);
constexpr std::size_t kFrameWords = limits::kTemplateFrameBytes / sizeof(capnp::word);

}  // namespace

Result<std::string> encode_control_frame(capnp::MessageBuilder& message) {
  const kj::Array<capnp::word> words = capnp::messageToFlatArray(message);
  if (words.size() > kFrameWords) {
    return fail(ErrorCode::resource_exhausted, "template request: {} bytes, at most {} are allowed",
                words.size() * sizeof(capnp::word), limits::kTemplateFrameBytes);
  }
  const std::uint64_t count = words.size();
  std::string frame(kHeaderBytes + words.asBytes().size(), '\0');
  std::memcpy(frame.data(), &count, kHeaderBytes);
  std::memcpy(frame.data() + kHeaderBytes, words.asBytes().begin(), words.asBytes().size());
  return frame;
}

Result<bool> ControlFrameReader::next(const std::function<Result<>(capnp::MessageReader&)>& handle) {
  if (buffer_.size() < kHeaderBytes) return false;
  std::uint64_t count;
  std::memcpy(&count, buffer_.data(), kHeaderBytes);
  if (count == 0 || count > kFrameWords) {
    return fail(ErrorCode::data_loss, "control frame: {} words, 1 to {} are allowed", count, kFrameWords);
  }
  const std::size_t body_bytes = static_cast<std::size_t>(count) * sizeof(capnp::word);
  if (buffer_.size() < kHeaderBytes + body_bytes) return false;
  auto words = kj::heapArray<capnp::word>(static_cast<std::size_t>(count));  // aligned, unlike the buffer
  std::memcpy(words.asBytes().begin(), buffer_.data() + kHeaderBytes, body_bytes);
  buffer_.erase(0, kHeaderBytes + body_bytes);

  Result<> handled;
  try {
    capnp::ReaderOptions options;
    options.nestingLimit = limits::kNesting;
    capnp::FlatArrayMessageReader reader(words, options);
    handled = handle(reader);
  } catch (const kj::Exception& exception) {
    return fail(ErrorCode::data_loss, "control frame: {}", exception.getDescription().cStr());
  }
  if (!handled) return forward_error(handled);
  return true;
}

Result<> write_control_frame(int fd, capnp::MessageBuilder& message) {
  const auto frame = encode_control_frame(message);
  if (!frame) return forward_error(frame);
  std::string_view rest = *frame;
  while (!rest.empty()) {
    const ssize_t written = ::send(fd, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (written < 0) {
      if (errno == EINTR) continue;
      return tl::unexpected<Error>(system_error("control stream", errno));
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace tandem::runtime
