#include "tuner/pipetune/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tuner/pipetune/limits.hpp"
#include "tuner/pipetune/step_statistics.hpp"

namespace tandem::tuner {

namespace {

constexpr int kVersion = 1;
constexpr std::string_view kEventPrefix = "event_";

/// Logarithm of a quantity that is at least `floor` when it matters; nothing measured counts as the floor.
double log_of(double value, double floor) { return std::log(std::isfinite(value) ? std::max(value, floor) : floor); }

/// Logarithm of a count that may well be 0.
double log_count(double value) { return std::log1p(std::isfinite(value) ? std::max(value, 0.0) : 0.0); }

double share(double part, double whole) {
  const double ratio = whole > 0 ? part / whole : 0;
  return std::isfinite(ratio) ? std::clamp(ratio, 0.0, 1e6) : 0;
}

struct Tolerance {
  std::string_view name;
  double value;
};

// Differences between two runs of the same work, seen on shared virtual machines. The model's features are exact but
// for hyperparameters that hardly change the work (an embedding of 128 or 136).
constexpr std::array kTolerances = {
    Tolerance{"log_parameters", 0.05},
    Tolerance{"log_flops_per_sample", 0.05},
    Tolerance{"log_activation_bytes_per_sample", 0.05},
    Tolerance{"log_input_elements", 0.05},
    Tolerance{"log_batch_size", 0.05},
    Tolerance{"log_arithmetic_intensity", 0.05},
    Tolerance{"log_step_seconds", 0.35},
    Tolerance{"cpu_share", 0.35},
    Tolerance{"system_share", 0.15},
    Tolerance{"log_faults_per_step", 1.0},
    Tolerance{"log_major_faults_per_step", 1.5},
    Tolerance{"log_switches_per_step", 2.0},
    Tolerance{"run_queue_share", 0.5},
};
constexpr double kEventTolerance = 0.35;
constexpr double kUnknownTolerance = 1.0;

}  // namespace

double feature_tolerance(std::string_view name) noexcept {
  for (const Tolerance& tolerance : kTolerances) {
    if (tolerance.name == name) return tolerance.value;
  }
  return name.substr(0, kEventPrefix.size()) == kEventPrefix ? kEventTolerance : kUnknownTolerance;
}

ProfileVector make_profile(const WindowFacts& facts) {
  ProfileVector profile;
  profile.version = kVersion;
  const auto add = [&profile](std::string name, double value) {
    profile.names.push_back(std::move(name));
    profile.values.push_back(value);
  };
  const auto steps = static_cast<double>(std::max<std::int64_t>(facts.steps, 1));
  const double step_seconds = facts.step_seconds.empty() ? facts.seconds / steps : median(facts.step_seconds);
  const double cpu_seconds = facts.user_seconds + facts.system_seconds;
  const auto switches = static_cast<double>(facts.voluntary_switches + facts.involuntary_switches);

  add("log_parameters", log_of(static_cast<double>(facts.parameter_count), 1));
  add("log_flops_per_sample", log_of(facts.flops_per_sample, 1));
  add("log_activation_bytes_per_sample", log_of(facts.activation_bytes_per_sample, 1));
  add("log_input_elements", log_of(static_cast<double>(facts.input_elements), 1));
  add("log_batch_size", log_of(static_cast<double>(facts.batch_size), 1));
  add("log_arithmetic_intensity", log_of(facts.flops_per_sample, 1) - log_of(facts.activation_bytes_per_sample, 1));
  add("log_step_seconds", log_of(step_seconds, 1e-6));
  add("cpu_share", share(cpu_seconds, facts.seconds));
  add("system_share", share(facts.system_seconds, cpu_seconds));
  add("log_faults_per_step", log_count(static_cast<double>(facts.minor_faults) / steps));
  add("log_major_faults_per_step", log_count(static_cast<double>(facts.major_faults) / steps));
  add("log_switches_per_step", log_count(switches / steps));
  add("run_queue_share", share(facts.run_queue_wait_seconds, facts.seconds));
  for (const auto& [name, count] : facts.events) {
    if (profile.names.size() >= limits::kMaxProfileFeatures) break;
    add(std::string(kEventPrefix) + name, log_count(count / steps));
  }
  return profile;
}

std::string profile_fault(const ProfileVector& profile) {
  if (profile.names.size() != profile.values.size()) return "as many values as names";
  if (profile.names.empty() || profile.names.size() > limits::kMaxProfileFeatures) {
    return fmt::format("1 to {} features", limits::kMaxProfileFeatures);
  }
  for (std::size_t i = 0; i < profile.values.size(); ++i) {
    if (!std::isfinite(profile.values[i])) return fmt::format("a finite number for '{}'", profile.names[i]);
  }
  return {};
}

}  // namespace tandem::tuner
