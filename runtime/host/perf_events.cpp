#include "runtime/host/perf_events.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "runtime/base/file_system.hpp"

namespace tandem::runtime {

namespace {

constexpr std::uint64_t cache_event(std::uint64_t cache, std::uint64_t operation, std::uint64_t result) noexcept {
  return cache | (operation << 8) | (result << 16);
}

/// A descriptor, or -errno.
int open_event(const PerfEventKind& kind, int thread) noexcept {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = kind.type;
  attributes.config = kind.config;
  attributes.inherit = 1;  // which rules out reading several events as a group
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attributes.exclude_hv = 1;
  auto attempt = [&] {
    return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC));
  };
  int fd = attempt();
  if (fd < 0 && (errno == EACCES || errno == EPERM) && !kind.needs_kernel) {
    attributes.exclude_kernel = 1;  // all that perf_event_paranoid = 2 allows
    fd = attempt();
  }
  return fd >= 0 ? fd : -errno;
}

}  // namespace

const std::vector<PerfEventKind>& perf_event_kinds() {
  // Faults and switches are not among them: rusage tells those for all threads in one call.
  static const std::vector<PerfEventKind> kinds = {
      {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true, false, 1},
      {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, true, false, 1},
      {"cache_references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, true, false, 1},
      {"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, true, false, 1},
      {"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, true, false, 1},
      {"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, true, false, 1},
      {"l1d_load_misses", PERF_TYPE_HW_CACHE,
       cache_event(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS), true, false,
       1},
      {"dtlb_load_misses", PERF_TYPE_HW_CACHE,
       cache_event(PERF_COUNT_HW_CACHE_DTLB, PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS), true, false,
       1},
      {"task_clock_seconds", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false, false, 1e-9},
      {"cpu_migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, false, true, 1},
  };
  return kinds;
}

double scaled_difference(const PerfCount& before, const PerfCount& after) noexcept {
  if (after.value < before.value || after.running_nanoseconds <= before.running_nanoseconds) return 0;
  const auto value = static_cast<double>(after.value - before.value);
  const auto enabled = static_cast<double>(after.enabled_nanoseconds - before.enabled_nanoseconds);
  const auto running = static_cast<double>(after.running_nanoseconds - before.running_nanoseconds);
  return value * enabled / running;
}

Result<PerfCounter> PerfCounter::open(const PerfEventKind& kind, int thread) {
  const int fd = open_event(kind, thread);
  if (fd < 0) return tl::unexpected<Error>(system_error(fmt::format("perf event {}", kind.name), -fd));
  return PerfCounter(kind, fd);
}

int PerfCounter::probe(const PerfEventKind& kind) {
  const int fd = open_event(kind, 0);
  if (fd < 0) return -fd;
  ::close(fd);
  return 0;
}

PerfCounter::~PerfCounter() {
  if (fd_ >= 0) ::close(fd_);
}

PerfCounter::PerfCounter(PerfCounter&& other) noexcept : kind_(other.kind_), fd_(std::exchange(other.fd_, -1)) {}

PerfCounter& PerfCounter::operator=(PerfCounter&& other) noexcept {
  std::swap(kind_, other.kind_);
  std::swap(fd_, other.fd_);
  return *this;
}

PerfCount PerfCounter::read() const noexcept {
  std::uint64_t words[3];
  if (::read(fd_, words, sizeof words) != static_cast<ssize_t>(sizeof words)) return {};
  return {words[0], words[1], words[2]};
}

}  // namespace tandem::runtime
