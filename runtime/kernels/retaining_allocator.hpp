/// RetainingAllocator: keeps freed blocks mapped, so that the next step of a training loop finds them without page
/// faults. Blocks come from one reserved range of addresses, which tells them from anybody else's.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "runtime/kernels/kernel_backend.hpp"
#include "runtime/kernels/size_class.hpp"

namespace tandem::runtime {

/// Thread-safe; blocks may be freed by any thread. Alignment is 64 bytes.
class RetainingAllocator {
 public:
  struct Options {
    std::size_t address_space_bytes = std::size_t{64} << 30;  ///< reserved, not used; bounds what is ever handed out
    std::size_t retained_bytes = std::size_t{8} << 30;        ///< free blocks beyond this give their pages back
  };

  explicit RetainingAllocator(Options options);
  RetainingAllocator() : RetainingAllocator(Options{}) {}
  ~RetainingAllocator();
  RetainingAllocator(const RetainingAllocator&) = delete;
  RetainingAllocator& operator=(const RetainingAllocator&) = delete;

  /// nullptr when the range or the system's memory is used up; also for zero bytes.
  [[nodiscard]] void* allocate(std::size_t bytes) noexcept;
  /// Of a block from `allocate`, once.
  void release(void* block) noexcept;
  /// Whether `pointer` lies in this allocator's range.
  [[nodiscard]] bool owns(const void* pointer) const noexcept;
  /// Gives the pages of all free blocks back to the system; the blocks stay usable.
  void trim() noexcept;
  [[nodiscard]] AllocatorStatistics statistics() const noexcept;

  static constexpr std::size_t kAlignmentBytes = 64;

 private:
  struct Block;
  /// Free blocks by size class. Threads spread over several, so that they seldom meet at a lock.
  struct Shard {
    std::mutex mutex;
    std::array<Block*, SizeClass::kCount> free{};
  };
  static constexpr std::size_t kShards = 8;

  [[nodiscard]] static std::size_t home_shard() noexcept;
  Block* take_free(std::size_t size_class) noexcept;
  Block* carve(std::size_t size_class) noexcept;
  void count_use(std::uint64_t bytes) noexcept;
  /// Whether its pages could be given back.
  static bool drop_pages(Block* block) noexcept;

  Options options_;
  std::byte* begin_ = nullptr;
  std::size_t reserved_bytes_ = 0;

  std::mutex range_mutex_;
  std::size_t carved_bytes_ = 0;    ///< handed out once at least
  std::size_t writable_bytes_ = 0;  ///< made accessible so far

  std::array<Shard, kShards> shards_;
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> reused_{0};
  std::atomic<std::uint64_t> bytes_in_use_{0};
  std::atomic<std::uint64_t> bytes_retained_{0};
  std::atomic<std::uint64_t> peak_bytes_{0};
};

}  // namespace tandem::runtime
