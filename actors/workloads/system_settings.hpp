/// SystemSettings: the live system parameters of a session, checked.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/base/result.hpp"
#include "runtime/kernels/kernel_backend.hpp"
#include "tuner/space/value.hpp"

namespace tandem::actors {

struct SystemSettings {
  int cores = 0;    ///< 0: never set. Affinity itself belongs to the trial host
  int threads = 0;  ///< 0: never set, the framework's default
  int replicas = 1;
  std::int64_t micro_batch = 0;  ///< 0: the batch divided by the replicas
  runtime::AllocatorKind allocator = runtime::AllocatorKind::framework;

  /// These settings with those named in `system` changed. Errors name the parameter and what is allowed.
  [[nodiscard]] Result<SystemSettings> with(const tuner::Parameters& system, std::int64_t batch_size) const;

  /// Into how many chunks a batch of `samples` is cut, and where each begins and ends.
  [[nodiscard]] std::int64_t chunks(std::int64_t samples) const noexcept;
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> chunk_bounds(std::int64_t chunk,
                                                                   std::int64_t samples) const noexcept;
};

}  // namespace tandem::actors
