#include "runtime/kernels/torch_backend.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/CPUAllocator.h>
#include <doctest/doctest.h>

#include <span>
#include <thread>
#include <vector>

#include "runtime/host/affinity.hpp"

namespace tandem::runtime {
namespace {

TEST_CASE("the number of threads is set and read back, and nonsense is refused") {
  TorchBackend backend;
  for (const int threads : {1, 2, 1}) {
    REQUIRE(backend.set_threads(threads));
    CHECK(backend.threads() == threads);
  }
  for (const int threads : {0, -3, TorchBackend::kThreads + 1}) {
    const auto set = backend.set_threads(threads);
    REQUIRE_FALSE(set);
    CHECK(set.error().code() == ErrorCode::invalid_argument);
  }
  CHECK(backend.threads() == 1);
}

TEST_CASE("a thread that runs already takes the number it enters with") {
  TorchBackend backend;
  REQUIRE(backend.set_threads(1));
  int seen = 0;
  std::thread([&] {
    (void)at::get_num_threads();  // LibTorch prepares the thread at its first question
    backend.enter_thread(2);
    seen = backend.threads();
  }).join();
  CHECK(seen == 2);
}

TEST_CASE("each thread that computes is pinned to a processor of its own while there are enough") {
  const auto before = thread_affinity().value();
  if (before.size() < 2) {
    MESSAGE("skipped: needs two processors");
    return;
  }
  const std::vector<int> two(before.begin(), before.begin() + 2);
  TorchBackend backend;
  REQUIRE(backend.set_threads(2));
  REQUIRE(backend.place(two));
  CHECK(thread_affinity() == std::vector<int>{two[0]});
  std::vector<std::vector<int>> seen(2);
  at::parallel_for(0, 2, 1, [&](std::int64_t begin, std::int64_t) {
    seen[static_cast<std::size_t>(begin)] = thread_affinity().value();
  });
  CHECK(seen == std::vector<std::vector<int>>{{two[0]}, {two[1]}});
  REQUIRE(backend.place(std::span(two).first(1)));  // fewer processors than threads: all share it
  CHECK(thread_affinity() == std::vector<int>{two[0]});
  REQUIRE(backend.set_threads(1));
  REQUIRE(backend.place(std::span(two).last(1)));
  CHECK(thread_affinity() == std::vector<int>{two[1]});
  REQUIRE(set_thread_affinity(before));
}

TEST_CASE("blocks survive a change of allocator in both directions") {
  TorchBackend backend;
  at::Tensor before = at::full({300, 1000}, 1.0F);
  void* bare_before = c10::GetCPUAllocator()->raw_allocate(100'000);
  REQUIRE(backend.set_allocator(AllocatorKind::retaining));
  CHECK(backend.allocator() == AllocatorKind::retaining);
  c10::GetCPUAllocator()->raw_deallocate(bare_before);  // as oneDNN does
  at::Tensor between = at::full({300, 1000}, 2.0F);
  void* bare_between = c10::GetCPUAllocator()->raw_allocate(100'000);
  before = at::Tensor();
  REQUIRE(backend.set_allocator(AllocatorKind::framework));
  CHECK(backend.allocator() == AllocatorKind::framework);
  c10::GetCPUAllocator()->raw_deallocate(bare_between);
  CHECK(between.sum().item<float>() == doctest::Approx(600'000));
  between = at::Tensor();
  at::Tensor after = at::full({300, 1000}, 3.0F);
  CHECK(after.sum().item<float>() == doctest::Approx(900'000));
}

TEST_CASE("the retaining allocator serves a loop from the blocks of the first round") {
  TorchBackend backend;
  REQUIRE(backend.set_allocator(AllocatorKind::retaining));
  const auto round = [] { return at::ones({512, 1024}).add(1).mul(2).sum().item<float>(); };
  (void)round();
  const auto first = backend.allocator_statistics();
  (void)round();
  (void)round();
  const auto third = backend.allocator_statistics();
  CHECK(third.requests > first.requests);
  CHECK(third.requests - first.requests == third.reused - first.reused);
  REQUIRE(backend.set_allocator(AllocatorKind::framework));
  CHECK(backend.allocator_statistics().bytes_retained < (1U << 20));
}

}  // namespace
}  // namespace tandem::runtime
