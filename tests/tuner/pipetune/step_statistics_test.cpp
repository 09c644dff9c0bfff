#include "tuner/pipetune/step_statistics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "runtime/base/random.hpp"

using namespace tandem;
using namespace tandem::tuner;

TEST_CASE("the lower median is one of the values") {
  CHECK(median(std::vector<double>{}) == 0);
  CHECK(median(std::vector<double>{3}) == 3);
  CHECK(median(std::vector<double>{4, 2}) == 2);
  CHECK(median(std::vector<double>{9, 1, 5}) == 5);
  CHECK(median(std::vector<double>{4, 3, 2, 1}) == 2);
}

TEST_CASE("the interval of two standard errors holds the true step time, outliers or not") {
  int held = 0;
  constexpr int kRuns = 500;
  for (int run = 0; run < kRuns; ++run) {
    Random random(static_cast<std::uint64_t>(run));
    std::vector<double> steps;
    for (int i = 0; i < 5 + run % 30; ++i) {
      steps.push_back(0.05 * std::exp(0.1 * random.normal()) * (random.uniform() < 0.03 ? 2 : 1));
    }
    const LogEstimate estimate = estimate_log(steps);
    CHECK(estimate.count == steps.size());
    held += std::abs(estimate.center - std::log(0.05)) <= 2 * estimate.error ? 1 : 0;
  }
  CHECK(held >= kRuns * 0.92);
}

TEST_CASE("errors shrink with the steps, and a single step is not certain") {
  const LogEstimate one = estimate_log(std::vector<double>{0.05});
  const LogEstimate many = estimate_log(std::vector<double>(50, 0.05));
  CHECK(one.error > 0.1);
  CHECK(many.error < 0.02);
  CHECK(many.error > 0);
}
