/// What a study file may not ask of the built-in workloads and system parameters; told before anything starts.
#pragma once

#include "runtime/base/result.hpp"
#include "tuner/study/study_spec.hpp"

namespace tandem::tools {

/// Errors name the table and key, and list what is allowed.
[[nodiscard]] Result<> check_study(const tuner::StudySpec& spec);

}  // namespace tandem::tools
