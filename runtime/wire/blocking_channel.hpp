/// Frames over a file descriptor with blocking reads and writes, for a process that has one thread and no event loop.
#pragma once

#include <capnp/message.h>
#include <kj/exception.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/wire/frame.hpp"

namespace tandem::runtime {

/// A received message and its bytes.
class ReceivedMessage {
 public:
  ReceivedMessage(std::vector<std::uint64_t> words, FrameBody body);

  /// Calls `visit` with the root. Cap'n Proto finds some damage only when a field is read: the error is data_loss then.
  template <class T, class F>
  Result<> read(F&& visit) const {
    try {
      visit(reader_->getRoot<T>());
      return {};
    } catch (const kj::Exception& damage) {
      return fail(ErrorCode::data_loss, "damaged message: {}", damage.getDescription().cStr());
    }
  }

 private:
  std::vector<std::uint64_t> words_;
  std::unique_ptr<FrameBody> body_;
  std::unique_ptr<capnp::SegmentArrayMessageReader> reader_;
};

/// The channel does not own the descriptor, and handles interrupted calls. Not thread-safe.
class BlockingChannel {
 public:
  explicit BlockingChannel(int descriptor) noexcept : descriptor_(descriptor) {}

  /// Errors: resource_exhausted, too large for one frame; unavailable, the other side is gone.
  Result<> write(capnp::MessageBuilder& message);
  /// Nothing at the end of the stream; the errors of the frame checks otherwise.
  [[nodiscard]] Result<std::optional<ReceivedMessage>> read();

 private:
  /// False when the stream ends before the first byte.
  Result<bool> read_exactly(std::byte* into, std::size_t count);

  int descriptor_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace tandem::runtime
