#include "actors/workloads/optimizer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "actors/workloads/batch_reader.hpp"
#include "actors/workloads/dropout.hpp"

namespace tandem::actors {
namespace {

// Three updates of p from 1 with gradients 0.5, -0.25, 1; worked out by hand from the documented formulas.
std::vector<float> run(Optimizer& optimizer) {
  std::vector<float> parameter = {1.0F};
  std::vector<float> path;
  for (const float gradient : {0.5F, -0.25F, 1.0F}) {
    const std::vector<float> gradients = {gradient};
    optimizer.update(parameter, gradients);
    path.push_back(parameter[0]);
  }
  CHECK(optimizer.updates() == 3);
  return path;
}

TEST_CASE("SGD without momentum keeps no state") {
  const auto optimizer = make_sgd({.learning_rate = 0.1}, 1);
  const auto path = run(*optimizer);
  CHECK(path[0] == doctest::Approx(0.95));
  CHECK(path[1] == doctest::Approx(0.975));
  CHECK(path[2] == doctest::Approx(0.875));
  CHECK(optimizer->state().empty());
}

TEST_CASE("SGD with momentum and weight decay") {
  const auto path = run(*make_sgd({.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.2}, 1));
  // v: 0.7; 0.63 + (−0.25 + 0.186) = 0.566; 0.5094 + (1 + 0.17468) = 1.68408
  CHECK(path[0] == doctest::Approx(0.93));
  CHECK(path[1] == doctest::Approx(0.8734));
  CHECK(path[2] == doctest::Approx(0.704992));
}

TEST_CASE("Adam corrects its means for their start") {
  const auto path = run(*make_adam({.learning_rate = 0.1}, 1));
  CHECK(path[0] == doctest::Approx(0.9));
  double mean = 0;
  double square = 0;
  double p = 1;
  int t = 0;
  for (const double g : {0.5, -0.25, 1.0}) {
    mean = 0.9 * mean + 0.1 * g;
    square = 0.999 * square + 0.001 * g * g;
    ++t;
    p -= 0.1 * (mean / (1 - std::pow(0.9, t))) / (std::sqrt(square / (1 - std::pow(0.999, t))) + 1e-8);
    CHECK(path[static_cast<std::size_t>(t - 1)] == doctest::Approx(p).epsilon(1e-5));
  }
}

TEST_CASE("dropout masks do not depend on how a batch is cut") {
  constexpr std::int64_t kUnits = 33;
  std::vector<float> whole(20 * kUnits);
  fill_dropout_mask({7, 3, 0}, 0, 0.3, kUnits, whole);
  for (const std::int64_t cut : {1, 7, 19}) {
    std::vector<float> first(static_cast<std::size_t>(cut * kUnits));
    std::vector<float> second(static_cast<std::size_t>((20 - cut) * kUnits));
    fill_dropout_mask({7, 3, cut}, 0, 0.3, kUnits, second);
    fill_dropout_mask({7, 3, 0}, 0, 0.3, kUnits, first);
    first.insert(first.end(), second.begin(), second.end());
    CHECK(first == whole);
  }
}

TEST_CASE("dropout drops its share, scales the rest, and differs by seed, step, layer and sample") {
  constexpr std::int64_t kUnits = 1'000;
  const auto mask = [](DropoutStream stream, std::uint64_t layer) {
    std::vector<float> values(100 * kUnits);
    fill_dropout_mask(stream, layer, 0.25, kUnits, values);
    return values;
  };
  const auto base = mask({1, 1, 0}, 0);
  double dropped = 0;
  for (const float value : base) {
    REQUIRE((value == 0.0F || value == doctest::Approx(4.0 / 3.0)));
    dropped += value == 0.0F ? 1 : 0;
  }
  CHECK(dropped / static_cast<double>(base.size()) == doctest::Approx(0.25).epsilon(0.03));
  CHECK(mask({2, 1, 0}, 0) != base);
  CHECK(mask({1, 2, 0}, 0) != base);
  CHECK(mask({1, 1, 1}, 0) != base);
  CHECK(mask({1, 1, 0}, 1) != base);
}

TEST_CASE("each epoch has an order of its own, the same whenever it is asked for") {
  const auto order = shuffled_order(500, 9, 4);
  CHECK(order == shuffled_order(500, 9, 4));
  CHECK(order != shuffled_order(500, 9, 5));
  CHECK(order != shuffled_order(500, 8, 4));
  std::vector<bool> seen(500);
  for (const std::uint32_t index : order) seen.at(index) = true;
  CHECK(std::find(seen.begin(), seen.end(), false) == seen.end());
}

}  // namespace
}  // namespace tandem::actors
