/// Robust statistics of step times: single steps may take twice as long because of a neighbour.
#pragma once

#include <cstddef>
#include <span>

namespace tandem::tuner {

/// Lower median; 0 of nothing. With two values the smaller: disturbances only ever slow a step down.
[[nodiscard]] double median(std::span<const double> values);

/// Where the logarithm of a step's time lies.
struct LogEstimate {
  double center = 0;
  double error = 0;  ///< standard error of `center`
  std::size_t count = 0;
};

/// Median of logarithms; its error from the median absolute deviation, which a prior backs while values are few.
/// Values must be positive.
[[nodiscard]] LogEstimate estimate_log(std::span<const double> values);

}  // namespace tandem::tuner
