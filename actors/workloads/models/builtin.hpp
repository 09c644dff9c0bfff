/// The built-in models; each in a file of its own.
#pragma once

#include <memory>

#include "actors/workloads/model.hpp"

namespace tandem::actors {

[[nodiscard]] Result<std::unique_ptr<Model>> make_mlp(const tuner::Parameters& params, const Dataset& dataset);
[[nodiscard]] Result<std::unique_ptr<Model>> make_lenet5(const tuner::Parameters& params, const Dataset& dataset);

}  // namespace tandem::actors
