/// TorchBackend: LibTorch's threads, OpenBLAS' threads and LibTorch's CPU allocator.
#pragma once

#include "runtime/kernels/kernel_backend.hpp"

namespace tandem::runtime {

/// Stateless: what it changes belongs to the process. Until something is set, LibTorch is as it came.
class TorchBackend final : public KernelBackend {
 public:
  Result<> set_threads(int threads) override;
  [[nodiscard]] int threads() const override;
  void enter_thread(int threads) override;
  Result<> place(std::span<const int> processors) override;
  Result<> set_allocator(AllocatorKind kind) override;
  [[nodiscard]] AllocatorKind allocator() const override;
  [[nodiscard]] AllocatorStatistics allocator_statistics() const override;

  static constexpr int kThreads = 256;
};

}  // namespace tandem::runtime
