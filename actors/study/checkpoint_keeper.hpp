/// CheckpointKeeper: which trials' checkpoints stay on disk: of running and paused ones, and of the best.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "runtime/base/file_system.hpp"
#include "tuner/study/study.hpp"

namespace tandem::actors {

class CheckpointKeeper {
 public:
  CheckpointKeeper(FileSystem& files, std::function<std::string(tuner::TrialId)> directory_of);

  /// Makes the directory of a trial that is about to start.
  Result<> prepare(tuner::TrialId trial);
  /// A trial has ended or was decided on: removes what nothing will need again. Never of one in use.
  void tidy(const tuner::Study& study, tuner::TrialId changed);

 private:
  void remove_all(tuner::TrialId trial);

  FileSystem& files_;
  std::function<std::string(tuner::TrialId)> directory_of_;
  std::optional<tuner::TrialId> best_;
};

}  // namespace tandem::actors
