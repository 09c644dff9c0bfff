#include "runtime/kernels/retaining_allocator.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace tandem::runtime {

namespace {

constexpr std::size_t kPageBytes = 4096;
/// The range is made accessible in steps of this size: one system call for many blocks.
constexpr std::size_t kGrowthBytes = std::size_t{32} << 20;
constexpr std::size_t kSmallestReserveBytes = std::size_t{64} << 20;
/// Smaller blocks share pages with their neighbours: their pages are kept.
constexpr std::size_t kSmallestDropBytes = 16 * kPageBytes;

constexpr std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

/// Lies in front of the bytes handed out.
struct alignas(RetainingAllocator::kAlignmentBytes) RetainingAllocator::Block {
  std::size_t size_class = 0;
  Block* next = nullptr;
  bool resident = true;  ///< its pages count as retained while it is free

  [[nodiscard]] std::size_t bytes() const noexcept { return SizeClass::bytes(size_class); }
};

RetainingAllocator::RetainingAllocator(Options options) : options_(options) {
  // Address space may be limited (ulimit -v): be content with less.
  const std::size_t smallest = std::min(kSmallestReserveBytes, options_.address_space_bytes);
  for (std::size_t bytes = round_up(options_.address_space_bytes, kPageBytes); bytes >= smallest && bytes > 0;
       bytes = round_up(bytes / 2, kPageBytes)) {
    void* range = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) {
      if (bytes <= kPageBytes) return;
      continue;
    }
    begin_ = static_cast<std::byte*>(range);
    reserved_bytes_ = bytes;
    return;
  }
}

RetainingAllocator::~RetainingAllocator() {
  if (begin_ != nullptr) ::munmap(begin_, reserved_bytes_);
}

bool RetainingAllocator::owns(const void* pointer) const noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const auto begin = reinterpret_cast<std::uintptr_t>(begin_);
  return address >= begin && address - begin < reserved_bytes_;
}

std::size_t RetainingAllocator::home_shard() noexcept {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t shard = threads.fetch_add(1, std::memory_order_relaxed) % kShards;
  return shard;
}

/// From the thread's own shard first, then from the others: a block freed elsewhere must not lie idle.
RetainingAllocator::Block* RetainingAllocator::take_free(std::size_t size_class) noexcept {
  const std::size_t home = home_shard();
  for (std::size_t i = 0; i < kShards; ++i) {
    Shard& shard = shards_[(home + i) % kShards];
    const std::lock_guard lock(shard.mutex);
    Block* block = shard.free[size_class];
    if (block == nullptr) continue;
    shard.free[size_class] = block->next;
    return block;
  }
  return nullptr;
}

RetainingAllocator::Block* RetainingAllocator::carve(std::size_t size_class) noexcept {
  const std::size_t bytes = SizeClass::bytes(size_class);
  const std::lock_guard lock(range_mutex_);
  // Large blocks begin on a page of their own, so that all their pages can be given back.
  const std::size_t begin = bytes >= kSmallestDropBytes ? round_up(carved_bytes_, kPageBytes) : carved_bytes_;
  if (begin > reserved_bytes_ || bytes > reserved_bytes_ - begin) return nullptr;
  const std::size_t end = begin + bytes;
  if (end > writable_bytes_) {
    const std::size_t grown =
        std::min(reserved_bytes_, round_up(std::max(end, writable_bytes_ + kGrowthBytes), kPageBytes));
    if (::mprotect(begin_ + writable_bytes_, grown - writable_bytes_, PROT_READ | PROT_WRITE) != 0) return nullptr;
    writable_bytes_ = grown;
  }
  carved_bytes_ = end;
  auto* block = new (begin_ + begin) Block;
  block->size_class = size_class;
  return block;
}

void RetainingAllocator::count_use(std::uint64_t bytes) noexcept {
  const std::uint64_t total = bytes_in_use_.fetch_add(bytes, std::memory_order_relaxed) + bytes +
                              bytes_retained_.load(std::memory_order_relaxed);
  std::uint64_t peak = peak_bytes_.load(std::memory_order_relaxed);
  while (peak < total && !peak_bytes_.compare_exchange_weak(peak, total, std::memory_order_relaxed)) {
  }
}

void* RetainingAllocator::allocate(std::size_t bytes) noexcept {
  if (bytes == 0 || bytes > reserved_bytes_) return nullptr;
  const std::size_t size_class = SizeClass::of(bytes + sizeof(Block));
  if (size_class >= SizeClass::kCount) return nullptr;
  requests_.fetch_add(1, std::memory_order_relaxed);
  Block* block = take_free(size_class);
  if (block != nullptr) {
    reused_.fetch_add(1, std::memory_order_relaxed);
    if (block->resident) bytes_retained_.fetch_sub(block->bytes(), std::memory_order_relaxed);
  } else {
    block = carve(size_class);
    if (block == nullptr) return nullptr;
  }
  block->resident = true;
  count_use(block->bytes());
  return block + 1;
}

void RetainingAllocator::release(void* pointer) noexcept {
  if (pointer == nullptr) return;
  Block* block = static_cast<Block*>(pointer) - 1;
  const std::uint64_t bytes = block->bytes();
  bytes_in_use_.fetch_sub(bytes, std::memory_order_relaxed);
  const std::uint64_t retained = bytes_retained_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (retained > options_.retained_bytes && drop_pages(block)) {
    bytes_retained_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  Shard& shard = shards_[home_shard()];
  const std::lock_guard lock(shard.mutex);
  block->next = shard.free[block->size_class];
  shard.free[block->size_class] = block;
}

bool RetainingAllocator::drop_pages(Block* block) noexcept {
  if (block->bytes() < kSmallestDropBytes) return false;
  // All but the first page, which holds the header.
  std::byte* first = reinterpret_cast<std::byte*>(block) + kPageBytes;
  const std::size_t bytes = (block->bytes() - kPageBytes) / kPageBytes * kPageBytes;
  if (::madvise(first, bytes, MADV_DONTNEED) != 0) return false;
  block->resident = false;
  return true;
}

void RetainingAllocator::trim() noexcept {
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    for (Block* head : shard.free) {
      for (Block* block = head; block != nullptr; block = block->next) {
        if (!block->resident) continue;
        if (drop_pages(block)) bytes_retained_.fetch_sub(block->bytes(), std::memory_order_relaxed);
      }
    }
  }
}

AllocatorStatistics RetainingAllocator::statistics() const noexcept {
  AllocatorStatistics statistics;
  statistics.requests = requests_.load(std::memory_order_relaxed);
  statistics.reused = reused_.load(std::memory_order_relaxed);
  statistics.bytes_in_use = bytes_in_use_.load(std::memory_order_relaxed);
  statistics.bytes_retained = bytes_retained_.load(std::memory_order_relaxed);
  statistics.peak_bytes = peak_bytes_.load(std::memory_order_relaxed);
  return statistics;
}

}  // namespace tandem::runtime
