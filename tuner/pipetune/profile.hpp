/// ProfileVector: what a window of training steps looks like to the machine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::tuner {

/// Named features of one profiling window under the reference configuration. Order is fixed by `version`.
struct ProfileVector {
  int version = 1;
  std::vector<std::string> names;
  std::vector<double> values;
};

/// What was counted over one window, and what is known of the model.
struct WindowFacts {
  std::int64_t steps = 0;  ///< all steps of the window, warm-up included
  double seconds = 0;
  std::vector<double> step_seconds;  ///< measured steps
  double user_seconds = 0;
  double system_seconds = 0;
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
  std::int64_t voluntary_switches = 0;
  std::int64_t involuntary_switches = 0;
  double run_queue_wait_seconds = 0;
  std::map<std::string, double, std::less<>> events;  ///< hardware events over the window, where the host has them
  std::int64_t batch_size = 0;
  std::int64_t parameter_count = 0;
  double flops_per_sample = 0;
  double activation_bytes_per_sample = 0;
  std::int64_t input_elements = 0;
};

/// Features per step or sample, so that the length of the window does not matter; counts in logarithms, since what
/// tells workloads apart is their ratio. Events a host lacks have no feature: vectors of unlike hosts never match.
[[nodiscard]] ProfileVector make_profile(const WindowFacts& facts);

/// How much a feature may differ between two runs of the same work: the unit in which distances are measured.
/// What the model is, is exact; times waver with neighbours; waits and switches say little, so they weigh little.
[[nodiscard]] double feature_tolerance(std::string_view name) noexcept;

/// What a usable vector would have that this one lacks, e.g. "as many values as names"; empty: it is usable.
[[nodiscard]] std::string profile_fault(const ProfileVector& profile);

}  // namespace tandem::tuner
