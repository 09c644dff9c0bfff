#include "actors/study/checkpoint_keeper.hpp"

#include <utility>

namespace tandem::actors {

using tuner::TrialId;
using tuner::TrialState;

CheckpointKeeper::CheckpointKeeper(FileSystem& files, std::function<std::string(TrialId)> directory_of)
    : files_(files), directory_of_(std::move(directory_of)) {}

Result<> CheckpointKeeper::prepare(TrialId trial) { return files_.make_directories(directory_of_(trial)); }

void CheckpointKeeper::tidy(const tuner::Study& study, TrialId changed) {
  const auto best = study.best();
  const auto needed = [&](TrialId trial) {
    if (best && best->trial == trial) return true;
    const auto* known = study.find(trial);
    return known != nullptr && (known->state == TrialState::waiting || known->state == TrialState::running ||
                                known->state == TrialState::paused);
  };
  if (best_ && (!best || *best_ != best->trial) && !needed(*best_)) remove_all(*best_);
  if (!needed(changed)) remove_all(changed);
  best_ = best ? std::optional(best->trial) : std::nullopt;
}

void CheckpointKeeper::remove_all(TrialId trial) {
  const std::string directory = directory_of_(trial);
  const auto names = files_.list(directory);
  if (!names) return;  // nothing was written
  for (const auto& name : *names) (void)files_.remove(directory + "/" + name);
  (void)files_.remove(directory);
}

}  // namespace tandem::actors
