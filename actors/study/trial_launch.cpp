#include "actors/study/trial_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/codec.hpp"

namespace tandem::actors {

using tuner::Catalog;
using tuner::LeaseSize;
using tuner::Parameters;

TrialLauncher::TrialLauncher(const tuner::StudySpec& spec, LaunchSettings settings)
    : spec_(spec), settings_(std::move(settings)) {}

int TrialLauncher::lease_cores(const Parameters& suggested_system) const {
  if (const auto cores = suggested_system.find("cores"); cores != suggested_system.end()) {
    if (const auto* count = std::get_if<std::int64_t>(&cores->second)) return static_cast<int>(*count);
  }
  return Catalog::builtin().lease_cores(spec_.system, settings_.worker_cores);
}

std::string TrialLauncher::environment() const {
  return spec_.system.defaults == tuner::SystemDefaults::framework ? "framework" : "lease";
}

std::string TrialLauncher::checkpoint_directory(tuner::TrialId trial) const {
  return fmt::format("{}/trial-{}", settings_.checkpoint_root, trial);
}

namespace {

std::int64_t batch_size_of(const Parameters& params) {
  const auto found = params.find("batch_size");
  const auto* size = found == params.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return size == nullptr ? 1 : *size;
}

}  // namespace

std::vector<Parameters> TrialLauncher::candidates(const tuner::Assignment& assignment, const Parameters& params) const {
  const LeaseSize lease{lease_cores(assignment.system), spec_.trial.memory_bytes};
  const Catalog& catalog = Catalog::builtin();
  if (spec_.system.mode == tuner::SystemMode::pipeline) {
    return catalog.candidates(spec_.system, lease, batch_size_of(params));
  }
  Parameters fixed = catalog.defaults(spec_.system, lease);
  for (const auto& [name, value] : assignment.system) fixed[name] = value;  // mode = search: what was suggested
  Catalog::fit_to_batch(fixed, batch_size_of(params));
  return {std::move(fixed)};
}

void TrialLauncher::write_start(schemas::StartTrial::Builder start, const tuner::Assignment& assignment,
                                std::uint64_t trial_seed, std::uint32_t attempt,
                                schemas::TrialPlaced::Reader where) const {
  Parameters params = assignment.params;
  if (const auto* workload = find_workload(spec_.trial.workload)) params = with_defaults(*workload, params);
  start.setStudy(spec_.name.c_str());
  start.setTrial(assignment.trial);
  start.setAttempt(attempt);
  start.setWorkload(spec_.trial.workload.c_str());
  start.setDataset(spec_.trial.dataset.c_str());
  start.setDataDirectory(settings_.data_directory.c_str());
  write_parameters(start.initParams(static_cast<unsigned>(params.size())), params);
  start.setSeed(trial_seed);
  start.setEpochs(static_cast<std::uint32_t>(spec_.trial.epochs));
  start.setFromStep(static_cast<std::uint32_t>(assignment.from_step));
  start.setCheckpointDirectory(checkpoint_directory(assignment.trial).c_str());
  start.setCores(where.getCores());
  start.setPipeline(spec_.system.mode == tuner::SystemMode::pipeline);
  const auto grid = candidates(assignment, params);
  write_configurations(start.initCandidates(static_cast<unsigned>(grid.size())), grid);
  const LeaseSize lease{static_cast<int>(where.getCores().size()), spec_.trial.memory_bytes};
  const Parameters reference = Catalog::builtin().reference(spec_.system, lease, batch_size_of(params));
  write_parameters(start.initReference(static_cast<unsigned>(reference.size())), reference);
  start.setProbeBudget(spec_.system.probe_budget);
  start.setMinimizeEnergy(spec_.system.objective == tuner::SystemObjective::energy);
  start.setPipelineState(assignment.pipeline_state.c_str());
  start.setFrameworkDefaults(spec_.system.defaults == tuner::SystemDefaults::framework);
}

}  // namespace tandem::actors
