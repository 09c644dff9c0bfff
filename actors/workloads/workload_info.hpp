/// What the tuner and the command line know of the built-in workloads without linking LibTorch:
/// names, hyperparameters with defaults and limits, data sets. Kept in step with the implementations by a test.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "tuner/space/value.hpp"

namespace tandem::actors {

struct HyperparameterInfo {
  std::string name;  ///< learning_rate batch_size momentum weight_decay optimizer dropout hidden embedding
  tuner::Value default_value;
  std::string allowed;  ///< for messages, e.g. "a number in [0, 1)"
};

struct WorkloadInfo {
  std::string name;  ///< "mlp", "lenet5"
  std::string summary;
  std::vector<HyperparameterInfo> hyperparameters;
  std::vector<std::string> datasets;
  std::vector<std::string> metrics;  ///< what it reports on validation
};

[[nodiscard]] const std::vector<WorkloadInfo>& builtin_workloads();
[[nodiscard]] const WorkloadInfo* find_workload(std::string_view name);

/// Refuses a hyperparameter the workload does not have (listing those it has) or a value out of range.
[[nodiscard]] Result<> check_parameters(const WorkloadInfo& workload, const tuner::Parameters& params);
/// `params` with the workload's defaults for what is left out.
/// An integer given for a number becomes one.
[[nodiscard]] tuner::Parameters with_defaults(const WorkloadInfo& workload, const tuner::Parameters& params);

}  // namespace tandem::actors
