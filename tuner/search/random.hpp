/// Random search: each trial draws from a stream of its own, derived from the study's seed and the trial's number.
/// In a finite space no point comes twice.
#pragma once

#include "tuner/search/search_algorithm.hpp"

namespace tandem::tuner {

[[nodiscard]] Result<std::unique_ptr<SearchAlgorithm>> make_random_search(SearchSetup setup);

}  // namespace tandem::tuner
