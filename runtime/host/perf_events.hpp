/// Perf events of this process's threads, opened one by one and read as running totals.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"

namespace tandem::runtime {

/// An event the kernel may count.
struct PerfEventKind {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
  bool hardware;
  bool needs_kernel;  ///< happens in the kernel only: of no use where user mode alone may be counted
  double unit;        ///< one count in the unit of the name
};

/// Every event tried, hardware first.
[[nodiscard]] const std::vector<PerfEventKind>& perf_event_kinds();

/// A running total with the times by which multiplexing is scaled.
struct PerfCount {
  std::uint64_t value = 0;
  std::uint64_t enabled_nanoseconds = 0;
  std::uint64_t running_nanoseconds = 0;
};

/// What was counted between two totals, scaled to the whole time; 0 if the event never ran.
[[nodiscard]] double scaled_difference(const PerfCount& before, const PerfCount& after) noexcept;

/// One event of one thread and of the threads it starts. Owns its descriptor.
class PerfCounter {
 public:
  /// `thread` 0: the calling one. The error tells why this host does not count it.
  [[nodiscard]] static Result<PerfCounter> open(const PerfEventKind& kind, int thread);
  /// errno of the last attempt, for a person: 0 when it opened.
  [[nodiscard]] static int probe(const PerfEventKind& kind);

  ~PerfCounter();
  PerfCounter(PerfCounter&& other) noexcept;
  PerfCounter& operator=(PerfCounter&& other) noexcept;

  [[nodiscard]] const PerfEventKind& kind() const noexcept { return *kind_; }
  [[nodiscard]] PerfCount read() const noexcept;

 private:
  PerfCounter(const PerfEventKind& kind, int fd) noexcept : kind_(&kind), fd_(fd) {}
  const PerfEventKind* kind_;
  int fd_;
};

}  // namespace tandem::runtime
