/// A study as the state directory holds it, for the commands that look at one.
#pragma once

#include <string>

#include "tools/cli/command.hpp"
#include "tuner/store/store.hpp"
#include "tuner/study/study.hpp"

namespace tandem::tools {

struct StoredStudy {
  tuner::StudyRecord record;
  tuner::Study study;
};

/// The text of a study file given on the command line. Errors: invalid_argument, naming the path.
[[nodiscard]] Result<std::string> read_study_file(const Surroundings& surroundings, const std::string& path);

/// By name, or by the study file that names it. not_found lists the studies there are.
[[nodiscard]] Result<StoredStudy> load_stored_study(const Surroundings& surroundings, const CommonOptions& common,
                                                    const std::string& name_or_file);

}  // namespace tandem::tools
