#include "runtime/host/affinity.hpp"

#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "runtime/base/file_system.hpp"
#include "runtime/base/limits.hpp"
#include "runtime/host/system_files.hpp"

namespace tandem::runtime {

namespace {

Result<cpu_set_t> make_set(std::span<const int> processors) {
  if (processors.empty()) return fail(ErrorCode::invalid_argument, "affinity: needs at least one processor");
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) {
    if (processor < 0 || processor >= CPU_SETSIZE) {
      return fail(ErrorCode::invalid_argument, "affinity: processor {} is not in 0 to {}", processor, CPU_SETSIZE - 1);
    }
    CPU_SET(static_cast<std::size_t>(processor), &set);
  }
  return set;
}

/// The kernel silently drops processors that do not exist from a set that has others.
Result<> check_applied(std::span<const int> processors) {
  const auto applied = thread_affinity();
  if (!applied) return forward_error(applied);
  for (const int processor : processors) {
    if (!std::binary_search(applied->begin(), applied->end(), processor)) {
      return fail(ErrorCode::invalid_argument, "affinity: processor {} does not exist or is not allowed here",
                  processor);
    }
  }
  return {};
}

Result<> apply(int thread, const cpu_set_t& set, std::span<const int> processors) {
  if (::sched_setaffinity(thread, sizeof set, &set) == 0) return {};
  if (errno == EINVAL) {
    return fail(ErrorCode::invalid_argument, "affinity: none of the processors {} exists or is allowed here",
                fmt::join(processors, ", "));
  }
  return tl::unexpected<Error>(system_error(fmt::format("affinity of thread {}", thread), errno));
}

}  // namespace

Result<> set_thread_affinity(std::span<const int> processors) {
  const auto set = make_set(processors);
  if (!set) return forward_error(set);
  cpu_set_t before;
  CPU_ZERO(&before);
  const bool known = ::sched_getaffinity(0, sizeof before, &before) == 0;
  if (auto applied = apply(0, *set, processors); !applied) return applied;
  auto complete = check_applied(processors);
  if (!complete && known) (void)::sched_setaffinity(0, sizeof before, &before);
  return complete;
}

Result<> set_thread_affinity(int thread, std::span<const int> processors) {
  const auto set = make_set(processors);
  if (!set) return forward_error(set);
  return apply(thread, *set, processors);
}

Result<> set_process_affinity(std::span<const int> processors) {
  // The calling thread first: it tells whether the set is good, and what it starts from now on inherits it.
  if (auto own = set_thread_affinity(processors); !own) return own;
  const auto set = make_set(processors);
  std::set<int> bound;
  for (int pass = 0; pass < limits::kAffinityPasses; ++pass) {
    const auto threads = process_threads();
    if (!threads) return forward_error(threads);
    bool settled = true;
    for (const int thread : *threads) {
      if (!bound.insert(thread).second) continue;
      settled = false;  // its creator may have been unbound, and busy creating more
      if (auto applied = apply(thread, *set, processors); !applied && applied.error().code() != ErrorCode::not_found) {
        return applied;
      }
    }
    if (settled) return {};
  }
  return fail(ErrorCode::unavailable, "affinity: new threads kept appearing through {} passes",
              limits::kAffinityPasses);
}

Result<std::vector<int>> thread_affinity() { return thread_affinity(0); }

Result<std::vector<int>> thread_affinity(int thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(thread, sizeof set, &set) != 0) {
    return tl::unexpected<Error>(system_error(fmt::format("affinity of thread {}", thread), errno));
  }
  std::vector<int> processors;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(static_cast<std::size_t>(processor), &set)) processors.push_back(processor);
  }
  return processors;
}

Result<std::vector<int>> process_threads() {
  const PosixFileSystem files;
  const auto names = files.list("/proc/self/task");
  if (!names) return forward_error(names);
  std::vector<int> threads;
  for (const auto& name : *names) {
    if (const auto thread = parse_number<int>(name)) threads.push_back(*thread);
  }
  return threads;
}

}  // namespace tandem::runtime
