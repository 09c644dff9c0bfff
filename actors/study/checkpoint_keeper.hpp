/// CheckpointKeeper: which trials' checkpoints stay on disk: of those that may go on, and of the best that has ended.
#pragma once

#include <functional>
#include <string>

#include "runtime/base/file_system.hpp"
#include "tuner/study/ranking.hpp"
#include "tuner/study/study.hpp"

namespace tandem::actors {

class CheckpointKeeper {
 public:
  /// Knows what of `study` has ended already.
  CheckpointKeeper(FileSystem& files, const tuner::Study& study,
                   std::function<std::string(tuner::TrialId)> directory_of);

  /// Makes the directory of a trial that is about to start.
  Result<> prepare(tuner::TrialId trial);
  /// A trial's host is gone. Removes what nothing will need again: of a running trial nothing, for its last reports may
  /// yet fall behind those of a trial that has ended.
  void tidy(const tuner::Trial& trial);

 private:
  void remove_all(tuner::TrialId trial);

  FileSystem& files_;
  std::function<std::string(tuner::TrialId)> directory_of_;
  tuner::Ranking ended_;
};

}  // namespace tandem::actors
