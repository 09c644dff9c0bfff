/// What a study found, for a person to read when it has ended.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/study/study.hpp"

namespace tandem::tools {

/// What the system parameters won for the trials of one batch size.
struct SystemGain {
  std::string group;         ///< "batch 1024", or "all trials" where there is no batch size
  double speedup = 1;        ///< median over the trials that chose `system`: default step time / chosen step time
  tuner::Parameters system;  ///< chosen most often
  int trials = 0;            ///< that chose it, with both times measured
};
/// By batch size, ascending. Trials without both times measured are left out.
[[nodiscard]] std::vector<SystemGain> system_gains(const tuner::Study& study);

/// "allocator=retain, 2 replicas"; what is the default everywhere is left out.
[[nodiscard]] std::string describe_system(const tuner::Parameters& system);

/// The best trial: objectives, test values with their standard errors, parameters.
[[nodiscard]] std::string describe_best(const tuner::Study& study, const tuner::BestTrial& best);

/// Everything, several lines. `state`: finished | stopped | failed.
[[nodiscard]] std::string final_report(const tuner::Study& study, std::string_view state);

}  // namespace tandem::tools
