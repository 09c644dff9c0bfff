/// Control frames between a worker and its template: a length in words, then a Cap'n Proto message of that length.
/// Both ends are ours, on one machine, over a socket that nobody else holds; the length is checked all the same.
#pragma once

#include <capnp/message.h>
#include <capnp/serialize.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"

namespace tandem::runtime {

/// resource_exhausted if it is larger than limits::kTemplateFrameBytes.
[[nodiscard]] Result<std::string> encode_control_frame(capnp::MessageBuilder& message);

/// Cuts a stream of bytes into frames.
class ControlFrameReader {
 public:
  /// Bytes in the order they came.
  void feed(std::string_view bytes) { buffer_.append(bytes); }
  /// Calls `handle` with the next message if it is complete, false if it is not; data_loss for a frame that cannot be.
  [[nodiscard]] Result<bool> next(const std::function<Result<>(capnp::MessageReader&)>& handle);

 private:
  std::string buffer_;
};

/// Writes all of it, waiting as long as it takes; unavailable when the other end is closed.
Result<> write_control_frame(int fd, capnp::MessageBuilder& message);

}  // namespace tandem::runtime
