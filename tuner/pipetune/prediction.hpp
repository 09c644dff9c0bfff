/// A guess at the step times of configurations not measured yet, to decide who is looked at first and what that may
/// cost. Nobody drops out of a race because of it.
#pragma once

#include <vector>

#include "tuner/space/value.hpp"

namespace tandem::tuner {

/// `known_seconds`: for each configuration its step time; 0: not known. Known ones are returned as they are; the
/// others from the effects of single values, multiplied. `fallback_seconds`: the guess when nothing is known.
[[nodiscard]] std::vector<double> predict_step_seconds(const std::vector<Parameters>& systems,
                                                       const std::vector<double>& known_seconds,
                                                       double fallback_seconds);

}  // namespace tandem::tuner
