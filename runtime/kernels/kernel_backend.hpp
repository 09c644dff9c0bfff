/// KernelBackend: the process-wide settings of the library that computes, changed live and read back.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/base/result.hpp"

namespace tandem::runtime {

enum class AllocatorKind {
  framework,  ///< the library's own, on top of malloc
  retaining,  ///< freed blocks stay mapped for the next step
};

/// What the allocators did since the process began; only the retaining one counts.
struct AllocatorStatistics {
  std::uint64_t requests = 0;
  std::uint64_t reused = 0;  ///< requests served by a block kept from before
  std::uint64_t bytes_in_use = 0;
  std::uint64_t bytes_retained = 0;  ///< free, and still in memory
  std::uint64_t peak_bytes = 0;      ///< in use and retained together, at most
};

class KernelBackend {
 public:
  virtual ~KernelBackend() = default;
  /// Intra-op threads of the calling thread and of those that begin to compute later; also those of BLAS.
  virtual Result<> set_threads(int threads) = 0;
  [[nodiscard]] virtual int threads() const = 0;
  /// The same for a thread that runs already; cheap enough for every step.
  virtual void enter_thread(int threads) = 0;
  /// Pins the calling thread to the first of `processors` and the threads that help it, those of BLAS included, to the
  /// next ones. With fewer processors than threads each may run on all of them. After a change of the number of
  /// threads it must be said again.
  virtual Result<> place(std::span<const int> processors) = 0;
  /// Blocks allocated before are freed the way they were allocated.
  virtual Result<> set_allocator(AllocatorKind kind) = 0;
  [[nodiscard]] virtual AllocatorKind allocator() const = 0;
  [[nodiscard]] virtual AllocatorStatistics allocator_statistics() const = 0;
};

}  // namespace tandem::runtime
