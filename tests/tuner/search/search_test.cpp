#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <set>

#include "tuner/search/search_algorithm.hpp"
#include "tuner/space/value_text.hpp"

using namespace tandem;
using namespace tandem::tuner;

namespace {

Space finite_space(std::int64_t values) {
  return *Space::create({{"n", IntDomain{1, values, 1, false}, {}},
                         {"kind", ChoiceDomain{{Value(std::string("a")), Value(std::string("b"))}}, {}}});
}
Space continuous_space() {
  return *Space::create({{"rate", FloatDomain{1e-3, 1e-1, 0, true}, {}}, {"n", IntDomain{1, 100, 1, false}, {}}});
}

/// Suggests and adds until the end, `limit` at most.
std::vector<std::string> run(SearchAlgorithm& search, TrialId first, std::size_t limit) {
  std::vector<std::string> points;
  for (TrialId trial = first; points.size() < limit; ++trial) {
    const auto point = search.suggest(trial);
    if (!point) break;
    search.added(trial, *point);
    points.push_back(canonical_text(*point));
  }
  return points;
}

}  // namespace

TEST_CASE("a finite space is used up without a duplicate, then exhausted") {
  for (const std::string_view name : {"random", "grid"}) {
    CAPTURE(name);
    auto search = *make_search_algorithm(name, {finite_space(50), 3});
    const auto points = run(*search, 0, 1000);
    CHECK(points.size() == 100);
    CHECK(std::set<std::string>(points.begin(), points.end()).size() == 100);
    CHECK(search->exhausted());
    CHECK(!search->suggest(100));
  }
}

TEST_CASE("an infinite space is never exhausted") {
  auto search = *make_search_algorithm("random", {continuous_space(), 3});
  CHECK(run(*search, 0, 500).size() == 500);
  CHECK_FALSE(search->exhausted());
}

TEST_CASE("random search: the seed decides, and each trial has a stream of its own") {
  auto one = *make_search_algorithm("random", {continuous_space(), 1});
  auto same = *make_search_algorithm("random", {continuous_space(), 1});
  auto other = *make_search_algorithm("random", {continuous_space(), 2});
  CHECK(run(*one, 0, 20) == run(*same, 0, 20));
  CHECK(run(*one, 20, 20) != run(*other, 20, 20));
  auto late = *make_search_algorithm("random", {continuous_space(), 1});
  CHECK(canonical_text(*late->suggest(7)) == canonical_text(*one->suggest(7)));
}

TEST_CASE("grid search follows the grid's order and passes over points enqueued before") {
  const Space space = finite_space(3);
  const auto grid = *space.grid(100);
  auto search = *make_search_algorithm("grid", {space, 1});
  search->added(0, grid[2]);
  const auto points = run(*search, 1, 100);
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    if (i != 2) expected.push_back(canonical_text(grid[i]));
  }
  CHECK(points == expected);
}

TEST_CASE("grid search refuses a continuous parameter by name, and an unknown algorithm lists those there are") {
  const auto grid = make_search_algorithm("grid", {continuous_space(), 1});
  REQUIRE(!grid);
  CHECK(grid.error().message().find("rate is a float from 0.001 to 0.1") != std::string::npos);
  const auto unknown = make_search_algorithm("bayes", {continuous_space(), 1});
  REQUIRE(!unknown);
  CHECK(unknown.error().message() == "no search algorithm \"bayes\"; available: random, grid");
}

TEST_CASE("property: told the same history, a new search goes on as the old one would have") {
  CHECK(rc::check([] {
    const std::string_view name = *rc::gen::element<std::string_view>("random", "grid");
    const Space space = finite_space(*rc::gen::inRange(2, 40));
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    auto whole = *make_search_algorithm(name, {space, seed});
    auto resumed = *make_search_algorithm(name, {space, seed});
    const TrialId cut = *rc::gen::inRange(0, 80);
    for (TrialId trial = 0; trial < 80; ++trial) {
      const auto point = whole->suggest(trial);
      if (trial >= cut) RC_ASSERT(resumed->suggest(trial) == point);
      if (!point) break;
      whole->added(trial, *point);
      resumed->added(trial, *point);
    }
  }));
}
