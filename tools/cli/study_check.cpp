#include "tools/cli/study_check.hpp"

#include <algorithm>

#include "actors/workloads/workload_info.hpp"
#include "tuner/pipetune/catalog.hpp"
#include "tuner/space/value_text.hpp"

namespace tandem::tools {
namespace {

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string_view nearest = tuner::nearest_name(word, std::vector<std::string_view>(known.begin(), known.end()));
  return nearest.empty() ? std::string() : fmt::format("; did you mean '{}'?", nearest);
}

/// The values that stand for a domain: all of a choice, the ends of a range.
std::vector<tuner::Value> corners(const tuner::Domain& domain) {
  if (const auto* floats = std::get_if<tuner::FloatDomain>(&domain)) return {floats->low, floats->high};
  if (const auto* integers = std::get_if<tuner::IntDomain>(&domain)) return {integers->low, integers->high};
  return std::get<tuner::ChoiceDomain>(domain).choices;
}

Result<const actors::WorkloadInfo*> check_workload(const tuner::TrialSpec& trial) {
  std::vector<std::string> names;
  for (const auto& workload : actors::builtin_workloads()) names.push_back(workload.name);
  const auto* workload = actors::find_workload(trial.workload);
  if (workload == nullptr) {
    return fail(ErrorCode::invalid_argument, "[trial] workload = \"{}\": there is none of that name; allowed: {}{}",
                trial.workload, fmt::join(names, ", "), did_you_mean(trial.workload, names));
  }
  const auto& datasets = workload->datasets;
  if (std::find(datasets.begin(), datasets.end(), trial.dataset) == datasets.end()) {
    return fail(ErrorCode::invalid_argument,
                "[trial] dataset = \"{}\": workload {} has none of that name; allowed: {}{}", trial.dataset,
                workload->name, fmt::join(datasets, ", "), did_you_mean(trial.dataset, datasets));
  }
  return workload;
}

Result<> check_space(const actors::WorkloadInfo& workload, const tuner::Space& space) {
  for (const auto& parameter : space.parameters()) {
    for (const auto& value : corners(parameter.domain)) {
      const auto checked = actors::check_parameters(workload, {{parameter.name, value}});
      if (!checked) return forward_error(checked, fmt::format("[space] {}", parameter.name));
    }
  }
  return {};
}

Result<> check_objectives(const actors::WorkloadInfo& workload, const std::vector<tuner::Objective>& objectives) {
  for (const auto& objective : objectives) {
    const auto& metrics = workload.metrics;
    if (std::find(metrics.begin(), metrics.end(), objective.name) != metrics.end()) continue;
    return fail(ErrorCode::invalid_argument, "[study] objectives: workload {} reports no '{}'; allowed: {}{}",
                workload.name, objective.name, fmt::join(metrics, ", "), did_you_mean(objective.name, metrics));
  }
  return {};
}

Result<> check_system(const tuner::SystemSpec& system) {
  const auto& catalog = tuner::Catalog::builtin();
  for (const auto& [name, values] : system.values) {
    const auto* parameter = catalog.find(name);
    if (parameter == nullptr) {
      std::vector<std::string> names;
      for (const auto* known : catalog.all()) names.emplace_back(known->name());
      return fail(ErrorCode::invalid_argument, "[system] {}: no such system parameter; allowed: {}{}", name,
                  fmt::join(names, ", "), did_you_mean(name, names));
    }
    for (const auto& value : values) {
      const auto checked = parameter->check(value);
      if (!checked) return forward_error(checked, fmt::format("[system] {}", name));
    }
  }
  return {};
}

}  // namespace

Result<> check_study(const tuner::StudySpec& spec) {
  const auto workload = check_workload(spec.trial);
  if (!workload) return forward_error(workload);
  if (auto checked = check_space(**workload, spec.space); !checked) return checked;
  if (auto checked = check_objectives(**workload, spec.objectives); !checked) return checked;
  return check_system(spec.system);
}

}  // namespace tandem::tools
