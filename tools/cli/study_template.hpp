/// The study file that `tandem init` writes.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/result.hpp"

namespace tandem::tools {

/// An empty data set is the workload's first. Errors list the workloads, or the workload's data sets.
[[nodiscard]] Result<std::string> study_template(std::string_view workload, std::string_view dataset,
                                                 std::string_view name);

}  // namespace tandem::tools
