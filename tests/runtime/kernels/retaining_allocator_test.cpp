#include "runtime/kernels/retaining_allocator.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/base/random.hpp"

namespace tandem::runtime {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr RetainingAllocator::Options kSmall{.address_space_bytes = 256 * kMiB, .retained_bytes = 64 * kMiB};

TEST_CASE("size classes hold what they are asked for and waste at most a fifth") {
  CHECK(SizeClass::of(1) == 0);
  CHECK(SizeClass::of(256) == 0);
  CHECK(SizeClass::of(257) == 1);
  CHECK(SizeClass::of(SizeClass::kLargestBytes) == SizeClass::kCount - 1);
  CHECK(SizeClass::of(SizeClass::kLargestBytes + 1) == SizeClass::kCount);
  for (std::size_t bytes = 257; bytes < 100 * kMiB; bytes += 1 + bytes / 97) {
    const std::size_t size_class = SizeClass::of(bytes);
    REQUIRE(SizeClass::bytes(size_class) >= bytes);
    REQUIRE(SizeClass::bytes(size_class - 1) < bytes);
    REQUIRE(static_cast<double>(SizeClass::bytes(size_class) - bytes) <=
            0.2 * static_cast<double>(SizeClass::bytes(size_class)));
  }
}

TEST_CASE("a freed block is handed out again for the same size") {
  RetainingAllocator allocator(kSmall);
  void* first = allocator.allocate(3 * kMiB);
  REQUIRE(first != nullptr);
  allocator.release(first);
  CHECK(allocator.statistics().bytes_retained >= 3 * kMiB);
  CHECK(allocator.allocate(3 * kMiB + 1000) == first);
  const auto statistics = allocator.statistics();
  CHECK(statistics.requests == 2);
  CHECK(statistics.reused == 1);
  CHECK(statistics.bytes_retained == 0);
  allocator.release(first);
  CHECK(allocator.statistics().bytes_in_use == 0);
}

TEST_CASE("blocks are aligned, apart from each other, and known as its own") {
  RetainingAllocator allocator(kSmall);
  Random random(1);
  struct Held {
    unsigned char* bytes;
    std::size_t size;
    unsigned char mark;
  };
  std::vector<Held> held;
  for (int i = 0; i < 2'000; ++i) {
    if (held.size() > 40) {
      const auto victim = static_cast<std::size_t>(random.uniform_int(0, static_cast<std::int64_t>(held.size()) - 1));
      for (std::size_t k = 0; k < held[victim].size; k += 61) REQUIRE(held[victim].bytes[k] == held[victim].mark);
      allocator.release(held[victim].bytes);
      held.erase(held.begin() + static_cast<std::ptrdiff_t>(victim));
    }
    const auto size = static_cast<std::size_t>(random.uniform_int(1, i % 50 == 0 ? 2'000'000 : 9'000));
    auto* bytes = static_cast<unsigned char*>(allocator.allocate(size));
    REQUIRE(bytes != nullptr);
    REQUIRE(reinterpret_cast<std::uintptr_t>(bytes) % RetainingAllocator::kAlignmentBytes == 0);
    REQUIRE(allocator.owns(bytes));
    std::memset(bytes, i % 251, size);
    held.push_back({bytes, size, static_cast<unsigned char>(i % 251)});
  }
  for (const Held& block : held) allocator.release(block.bytes);
  CHECK(allocator.statistics().bytes_in_use == 0);
  const auto foreign = std::make_unique<int>(1);
  CHECK_FALSE(allocator.owns(foreign.get()));
  CHECK_FALSE(allocator.owns(nullptr));
}

TEST_CASE("free blocks beyond the limit give their pages back and stay usable") {
  RetainingAllocator allocator({.address_space_bytes = 256 * kMiB, .retained_bytes = 10 * kMiB});
  std::array<void*, 4> blocks{};
  for (void*& block : blocks) {
    block = allocator.allocate(4 * kMiB);
    REQUIRE(block != nullptr);
    std::memset(block, 1, 4 * kMiB);
  }
  for (void* block : blocks) allocator.release(block);
  CHECK(allocator.statistics().bytes_retained <= 10 * kMiB);
  for (void*& block : blocks) {
    block = allocator.allocate(4 * kMiB);
    REQUIRE(block != nullptr);
    std::memset(block, 2, 4 * kMiB);
  }
  CHECK(allocator.statistics().reused == 4);
  for (void* block : blocks) allocator.release(block);
}

TEST_CASE("trimming gives the pages of free blocks back") {
  RetainingAllocator allocator(kSmall);
  auto* block = static_cast<unsigned char*>(allocator.allocate(kMiB));
  REQUIRE(block != nullptr);
  std::memset(block, 7, kMiB);
  allocator.release(block);
  allocator.trim();
  CHECK(allocator.statistics().bytes_retained == 0);
  allocator.trim();
  auto* again = static_cast<unsigned char*>(allocator.allocate(kMiB));
  REQUIRE(again == block);
  CHECK(again[kMiB / 2] == 0);  // a fresh page
  allocator.release(again);
}

TEST_CASE("what the range cannot hold is refused") {
  RetainingAllocator allocator({.address_space_bytes = 64 * kMiB, .retained_bytes = 64 * kMiB});
  CHECK(allocator.allocate(0) == nullptr);
  CHECK(allocator.allocate(65 * kMiB) == nullptr);
  CHECK(allocator.allocate(SIZE_MAX - 10) == nullptr);
  std::vector<void*> blocks;
  while (void* block = allocator.allocate(5 * kMiB)) blocks.push_back(block);
  CHECK(blocks.size() >= 9);
  CHECK(blocks.size() <= 12);
  allocator.release(blocks.back());
  CHECK(allocator.allocate(5 * kMiB) == blocks.back());
  for (void* block : blocks) allocator.release(block);
}

TEST_CASE("threads allocate, pass on and free blocks side by side") {
  RetainingAllocator allocator(kSmall);
  constexpr int kThreads = 4;
  constexpr int kRounds = 2'000;
  std::array<std::atomic<unsigned char*>, kThreads> mailbox{};
  std::atomic<int> damaged{0};
  std::vector<std::thread> threads;
  for (int id = 0; id < kThreads; ++id) {
    threads.emplace_back([&, id] {
      Random random(static_cast<std::uint64_t>(id));
      for (int round = 0; round < kRounds; ++round) {
        auto* block =
            static_cast<unsigned char*>(allocator.allocate(static_cast<std::size_t>(random.uniform_int(64, 200'000))));
        if (block == nullptr) {
          damaged.fetch_add(1);
          return;
        }
        std::memset(block, id + 1, 64);
        unsigned char* other = mailbox[static_cast<std::size_t>((id + round) % kThreads)].exchange(block);
        if (other == nullptr) continue;
        for (int k = 1; k < 64; ++k) {
          if (other[k] != other[0]) damaged.fetch_add(1);
        }
        allocator.release(other);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (auto& left : mailbox) allocator.release(left.load());
  CHECK(damaged == 0);
  CHECK(allocator.statistics().bytes_in_use == 0);
}

}  // namespace
}  // namespace tandem::runtime
