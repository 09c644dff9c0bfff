#include "actors/study/checkpoint_keeper.hpp"

#include <utility>

namespace tandem::actors {

using tuner::TrialId;
using tuner::TrialState;

namespace {

bool has_ended(const tuner::Trial& trial) {
  return trial.state == TrialState::completed || trial.state == TrialState::stopped;
}

}  // namespace

CheckpointKeeper::CheckpointKeeper(FileSystem& files, const tuner::Study& study,
                                   std::function<std::string(TrialId)> directory_of)
    : files_(files), directory_of_(std::move(directory_of)), ended_(study.spec().objectives.front()) {
  for (const auto& trial : study.trials()) {
    if (has_ended(trial)) ended_.update(trial);
  }
}

Result<> CheckpointKeeper::prepare(TrialId trial) { return files_.make_directories(directory_of_(trial)); }

void CheckpointKeeper::tidy(const tuner::Trial& trial) {
  if (trial.state == TrialState::failed) return remove_all(trial.id);
  if (!has_ended(trial)) return;
  const auto before = ended_.best();
  ended_.update(trial);
  const auto after = ended_.best();
  if (before && before != after) remove_all(*before);
  if (after != trial.id) remove_all(trial.id);
}

void CheckpointKeeper::remove_all(TrialId trial) {
  const std::string directory = directory_of_(trial);
  const auto names = files_.list(directory);
  if (!names) return;  // nothing was written
  for (const auto& name : *names) (void)files_.remove(directory + "/" + name);
  (void)files_.remove(directory);
}

}  // namespace tandem::actors
