#include "runtime/kernels/torch_backend.hpp"

#include <ATen/Parallel.h>
#include <c10/core/CPUAllocator.h>
#include <dlfcn.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "runtime/host/affinity.hpp"
#include "runtime/kernels/retaining_allocator.hpp"
#include "runtime/kernels/torch_compat.hpp"

namespace tandem::runtime {

namespace {

/// In front of both allocators once anything is set, and never taken away again: oneDNN frees by bare pointer through
/// whatever allocator is installed by then, so the one installed must know both kinds of blocks.
class SwitchingAllocator final : public TorchAllocatorBase {
 public:
  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &SwitchingAllocator::release; }

  void select(AllocatorKind kind) noexcept { retaining_.store(kind == AllocatorKind::retaining); }
  [[nodiscard]] AllocatorKind selected() const noexcept {
    return retaining_.load() ? AllocatorKind::retaining : AllocatorKind::framework;
  }
  [[nodiscard]] RetainingAllocator& retained() noexcept { return blocks_; }

  /// LibTorch keeps the pointer for good and blocks outlive every owner: it lives as long as the process.
  static SwitchingAllocator& instance() {
    static auto* allocator = new SwitchingAllocator;
    return *allocator;
  }

 protected:
  c10::DataPtr allocate_bytes(std::size_t bytes) const override {
    if (retaining_.load(std::memory_order_relaxed)) {
      if (void* block = instance().blocks_.allocate(bytes)) {
        return {block, block, &SwitchingAllocator::release, c10::Device(c10::DeviceType::CPU)};
      }
    }
    // Also when the range is used up; what memory there is comes from malloc, or its error tells of none. The deleter
    // becomes ours, since raw_allocate compares it with raw_deleter.
    void* block = instance().default_->raw_allocate(bytes);
    return {block, block, &SwitchingAllocator::release, c10::Device(c10::DeviceType::CPU)};
  }

 private:
  static void release(void* pointer) {
    SwitchingAllocator& self = instance();
    if (self.blocks_.owns(pointer)) {
      self.blocks_.release(pointer);
    } else {
      self.default_->raw_deallocate(pointer);
    }
  }

  c10::Allocator* const default_ = c10::GetDefaultCPUAllocator();
  RetainingAllocator blocks_;
  std::atomic<bool> retaining_{false};
};

bool installed() { return c10::GetCPUAllocator() == &SwitchingAllocator::instance(); }

/// OpenBLAS may have threads of its own, which LibTorch's setting does not reach. It tells nobody which they are: they
/// are those that appear while it is told how many to have.
class BlasThreads {
 public:
  void resize(int threads) {
    if (set_ == nullptr || threads == threads_) return;
    const auto before = process_threads();
    set_(threads);
    threads_ = threads;
    const auto after = process_threads();
    if (!before || !after) return;
    std::set_difference(after->begin(), after->end(), before->begin(), before->end(), std::back_inserter(helpers_));
  }

  /// The helpers in the order they were made; the caller computes too.
  [[nodiscard]] const std::vector<int>& helpers() const noexcept { return helpers_; }

 private:
  using SetThreads = void (*)(int);
  SetThreads set_ = reinterpret_cast<SetThreads>(::dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));  ///< null: another
  int threads_ = 0;
  std::vector<int> helpers_;
};

/// Of the process, as OpenBLAS' are.
BlasThreads& blas_threads() {
  static BlasThreads threads;
  return threads;
}

}  // namespace

Result<> TorchBackend::set_threads(int threads) {
  if (threads < 1 || threads > kThreads) {
    return fail(ErrorCode::invalid_argument, "threads: {} is outside 1 to {}", threads, kThreads);
  }
  // Setting the same number again would throw away oneDNN's primitives.
  if (at::get_num_threads() != threads) at::set_num_threads(threads);
  blas_threads().resize(threads);
  return {};
}

int TorchBackend::threads() const { return at::get_num_threads(); }

void TorchBackend::enter_thread(int threads) { ::omp_set_num_threads(threads); }

Result<> TorchBackend::place(std::span<const int> processors) {
  // Threads begin where their maker may run: the caller is pinned last, and its team made while it is free.
  if (auto freed = set_thread_affinity(processors); !freed) return freed;
  const int threads = ::omp_get_max_threads();
  if (static_cast<std::size_t>(threads) > processors.size()) return {};
  Result<> outcome;
  std::mutex mutex;
#pragma omp parallel num_threads(threads)
  {
    const auto own = processors.subspan(static_cast<std::size_t>(::omp_get_thread_num()), 1);
    if (auto pinned = set_thread_affinity(own); !pinned) {
      const std::lock_guard lock(mutex);
      outcome = std::move(pinned);
    }
  }
  const auto& helpers = blas_threads().helpers();
  for (std::size_t i = 0; threads > 1 && i < helpers.size() && i + 1 < processors.size(); ++i) {
    if (auto pinned = set_thread_affinity(helpers[i], processors.subspan(i + 1, 1)); !pinned) return pinned;
  }
  return outcome;
}

Result<> TorchBackend::set_allocator(AllocatorKind kind) {
  SwitchingAllocator& front = SwitchingAllocator::instance();
  if (!installed()) {
    if (kind == AllocatorKind::framework) return {};
    c10::SetCPUAllocator(&front);
    if (!installed()) {
      return fail(ErrorCode::failed_precondition, "allocator: another library has taken LibTorch's CPU allocator");
    }
  }
  front.select(kind);
  if (kind == AllocatorKind::framework) front.retained().trim();
  return {};
}

AllocatorKind TorchBackend::allocator() const {
  return installed() ? SwitchingAllocator::instance().selected() : AllocatorKind::framework;
}

AllocatorStatistics TorchBackend::allocator_statistics() const {
  return installed() ? SwitchingAllocator::instance().retained().statistics() : AllocatorStatistics{};
}

}  // namespace tandem::runtime
