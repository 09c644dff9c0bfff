/// Grid search: every point once, in the order of Space's grid: the parameter that comes last varies fastest, values
/// ascend, choices come as written. Points that were enqueued are not repeated.
#pragma once

#include "tuner/search/search_algorithm.hpp"

namespace tandem::tuner {

/// Errors: a parameter without a finite number of values, by name.
[[nodiscard]] Result<std::unique_ptr<SearchAlgorithm>> make_grid_search(SearchSetup setup);

}  // namespace tandem::tuner
