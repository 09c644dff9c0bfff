/// One run of `tandem tune` as its own process, and what its final document says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"

namespace tandem::benchmarks {

struct StudyRun {
  double training_seconds = 0;  ///< of all trials
  double tuning_seconds = 0;
  double accuracy = 0;       ///< best, on the validation split
  double test_accuracy = 0;  ///< of the same trial
  double excess_share = 0;   ///< of the training seconds
  std::int64_t hits = 0, misses = 0;
  std::vector<std::int64_t> batch_sizes;  ///< of the trials
};

struct RunSettings {
  std::string tandem;                  ///< the program
  std::string study;                   ///< study file
  std::string data;                    ///< data directory; empty: the program's own choice
  std::string state;                   ///< state directory
  std::vector<std::string> overrides;  ///< table.key=value
};

/// Runs it from the beginning. An error holds what it said.
[[nodiscard]] Result<StudyRun> run_study(const RunSettings& settings);

/// Output of a program that must succeed. `environment`: NAME=value.
[[nodiscard]] Result<std::string> output_of(const std::vector<std::string>& argv,
                                            const std::vector<std::string>& environment);

}  // namespace tandem::benchmarks
