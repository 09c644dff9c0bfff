/// start_study: a study from its file, or from where the store says it stands.
#pragma once

#include "runtime/base/clock.hpp"
#include "tools/cli/study_options.hpp"
#include "tuner/store/store.hpp"
#include "tuner/study/study.hpp"

namespace tandem::tools {

struct StartedStudy {
  tuner::Study study;
  bool resumed = false;
  bool file_changed = false;  ///< since it was started: the study goes on by the file it was started with
};

/// Claims the study in `store`; the caller releases it. Errors: failed_precondition, it is kept unfinished and neither
/// --resume nor --fresh is given; already_exists, it is finished.
[[nodiscard]] Result<StartedStudy> start_study(tuner::Store& store, tuner::StudySpec spec, const StudyOptions& options,
                                               const Clock& clock);

}  // namespace tandem::tools
