/// ResourceSampler: what this process used between two moments, from rusage, schedstat and perf events.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tandem::runtime {

/// Of all threads of the process.
struct ResourceUse {
  double user_seconds = 0;
  double system_seconds = 0;
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
  std::int64_t voluntary_switches = 0;
  std::int64_t involuntary_switches = 0;
  double run_queue_wait_seconds = 0;     ///< ready but not running; threads that ended within the window are missed
  std::map<std::string, double> events;  ///< perf events the host has, by name; scaled up where they were multiplexed

  [[nodiscard]] double cpu_seconds() const noexcept { return user_seconds + system_seconds; }
};

/// One window at a time, from one thread. Counters are opened at the first `begin`, for the threads there are and
/// those they start; hardware events where the host has them, software events in any case. Not to be taken through a
/// fork once opened. A window costs some 20 to 60 µs.
class ResourceSampler {
 public:
  ResourceSampler();
  ~ResourceSampler();
  ResourceSampler(const ResourceSampler&) = delete;
  ResourceSampler& operator=(const ResourceSampler&) = delete;

  void begin();
  /// Since `begin`; zeros without one.
  [[nodiscard]] ResourceUse end();

  /// Names of the events that can be counted here; opens the counters if they are not yet.
  [[nodiscard]] std::vector<std::string> event_names();

 private:
  class Counters;
  std::unique_ptr<Counters> counters_;
};

/// Events the sampler tries, whether or not this host has them.
struct EventSupport {
  std::string name;
  bool hardware = false;
  bool available = false;
  int error_number = 0;  ///< why not
};
/// Probes each for the calling thread.
[[nodiscard]] std::vector<EventSupport> probe_events();

}  // namespace tandem::runtime
