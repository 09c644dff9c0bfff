/// open_study: the study a run begins or goes on with, from the store and what the user asked for.
#pragma once

#include <memory>

#include "actors/study/local_cluster.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/file_system.hpp"
#include "tuner/store/store.hpp"
#include "tuner/study/study.hpp"

namespace tandem::actors {

/// Where a study's checkpoints lie below a state directory.
[[nodiscard]] std::string checkpoint_root(const std::string& state_directory, const std::string& study);

/// Claims the study in `store`. New, or replayed from its events with everything that ran waiting to go on.
/// Errors: failed_precondition, it is unfinished and neither resume nor fresh is set, or its file has changed since;
/// already_exists, it is finished.
Result<tuner::Study> open_study(const TuneOptions& options, tuner::Store& store, FileSystem& files, const Clock& clock);

}  // namespace tandem::actors
