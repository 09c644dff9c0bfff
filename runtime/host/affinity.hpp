/// Affinity: which processors threads may run on.
#pragma once

#include <span>
#include <vector>

#include "runtime/base/result.hpp"

namespace tandem::runtime {

/// Of the calling thread. invalid_argument names a processor that does not exist or is not allowed here.
Result<> set_thread_affinity(std::span<const int> processors);

/// Of another thread of this process; not_found when it has ended.
Result<> set_thread_affinity(int thread, std::span<const int> processors);

/// Of every thread of this process, those that appear meanwhile included; later threads inherit it.
Result<> set_process_affinity(std::span<const int> processors);

/// Of the calling thread, ascending.
[[nodiscard]] Result<std::vector<int>> thread_affinity();

/// Threads of this process now.
[[nodiscard]] Result<std::vector<int>> process_threads();
/// Of one of them, ascending; not_found when it has ended.
[[nodiscard]] Result<std::vector<int>> thread_affinity(int thread);

}  // namespace tandem::runtime
