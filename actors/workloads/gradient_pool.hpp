/// GradientPool: flat gradient buffers for the chunks of a step, reused from step to step.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace tandem::actors {

/// Thread-safe. As many buffers come to be as chunks wait for their neighbour at once.
class GradientPool {
 public:
  using Buffer = std::vector<float>;

  explicit GradientPool(std::int64_t size) : size_(static_cast<std::size_t>(size)) {}

  Buffer* take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      all_.push_back(std::make_unique<Buffer>(size_, 0.0F));
      free_.reserve(all_.size());  // so that `give_back` cannot fail
      return all_.back().get();
    }
    Buffer* buffer = free_.back();
    free_.pop_back();
    return buffer;
  }

  void give_back(Buffer* buffer) {
    const std::lock_guard lock(mutex_);
    free_.push_back(buffer);
  }

  /// Takes back every buffer, those of a step that failed half way included.
  void take_back_all() {
    const std::lock_guard lock(mutex_);
    free_.clear();
    for (const auto& buffer : all_) free_.push_back(buffer.get());
  }

 private:
  const std::size_t size_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Buffer>> all_;
  std::vector<Buffer*> free_;
};

}  // namespace tandem::actors
