#include "tuner/pipetune/step_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tandem::tuner {

namespace {

constexpr double kDeviationOfMedianDeviation = 1.4826;  // of a normal distribution
constexpr double kErrorOfMedian = 1.2533;               // against the mean's, of a normal distribution
constexpr double kPriorDeviation = 0.12;                // of a step's logarithm on a shared machine
constexpr double kPriorWeight = 4;                      // in steps

}  // namespace

double median(std::span<const double> values) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

LogEstimate estimate_log(std::span<const double> values) {
  LogEstimate estimate;
  estimate.count = values.size();
  if (values.empty()) return estimate;
  std::vector<double> logs(values.size());
  std::transform(values.begin(), values.end(), logs.begin(), [](double value) { return std::log(value); });
  estimate.center = median(logs);
  for (double& log : logs) log = std::abs(log - estimate.center);
  const double deviation = kDeviationOfMedianDeviation * median(logs);
  const auto count = static_cast<double>(values.size());
  const double variance =
      (kPriorWeight * kPriorDeviation * kPriorDeviation + count * deviation * deviation) / (kPriorWeight + count);
  estimate.error = kErrorOfMedian * std::sqrt(variance / count);
  return estimate;
}

}  // namespace tandem::tuner
