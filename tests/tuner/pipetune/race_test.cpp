#include "tuner/pipetune/race.hpp"

#include <doctest/doctest.h>

#include "tuner/pipetune/prediction.hpp"

using namespace tandem::tuner;

namespace {

Parameters system_of(std::int64_t a, std::int64_t b) { return {{"a", a}, {"b", b}}; }

const std::vector<Parameters> kGrid = {system_of(0, 0), system_of(1, 1), system_of(0, 1), system_of(1, 0)};

/// Runs to the end with exact step times of `seconds(a, b)`; returns how many steps each entrant took.
template <class Seconds>
std::vector<int> run(Race& race, Seconds seconds, double budget_seconds = 1e9) {
  std::vector<int> steps(race.entrants().size(), 0);
  double spent = 0;
  for (int windows = 0; windows < 1000; ++windows) {
    const auto window = race.next(spent, budget_seconds);
    if (!window) return steps;
    const Parameters& system = race.entrants()[window->entrant].system;
    const double each = seconds(std::get<std::int64_t>(system.at("a")), std::get<std::int64_t>(system.at("b")));
    std::vector<double> measured;
    while (static_cast<int>(measured.size()) < window->steps) {
      measured.push_back(each);
      spent += each;
      if (window->abort_step_seconds > 0 && each > window->abort_step_seconds) break;
    }
    steps[window->entrant] += static_cast<int>(measured.size());
    race.record(*window, measured, 0, 0);
  }
  FAIL("the race does not end");
  return steps;
}

}  // namespace

TEST_CASE("an interaction is found: each value alone is slow, both together are fastest") {
  Race race(kGrid, false);
  run(race, [](auto a, auto b) { return a == 1 && b == 1 ? 0.8 : a == 0 && b == 0 ? 1.0 : 1.2; });
  REQUIRE(race.best());
  CHECK(race.entrants()[*race.best()].system == system_of(1, 1));
  CHECK(race.conclusive());
}

TEST_CASE("what is slower by far costs one step, what is slower by half few") {
  Race race(kGrid, false);
  const auto steps = run(race, [](auto a, auto b) { return a == 1 ? (b == 1 ? 1.0 : 1.5) : (b == 1 ? 1.01 : 20.0); });
  CHECK(steps[0] == 1);
  CHECK(race.entrants()[0].dropped);
  CHECK(steps[3] < 8);
  CHECK(steps[3] < steps[1]);
}

TEST_CASE("defaults of short steps are measured at full speed: no look at them ends early") {
  const auto milliseconds = [](auto a, auto b) { return a == 0 && b == 0 ? 20e-3 : 1e-3; };
  Race race(kGrid, false);
  race.set_yardstick(1e-3);
  const auto steps = run(race, milliseconds);
  CHECK(steps[0] > 1);
  CHECK_FALSE(race.entrants()[0].dropped);
  CHECK(race.step_seconds(0) == 20e-3);
}

TEST_CASE("a change to several threads is not paid for steps so short that it cannot pay back") {
  const auto of = [](std::int64_t threads) {
    return Parameters{{"cores", std::int64_t{2}}, {"replicas", 3 - threads}, {"threads", threads}};
  };
  for (const double budget_seconds : {0.01, 10.0}) {
    CAPTURE(budget_seconds);
    Race race({of(2), of(1)}, false);
    race.set_yardstick(1e-4);
    race.record({1, 40, 0}, std::vector<double>(40, 1e-4), 0, 0);
    const auto window = race.next(0, budget_seconds);
    CHECK(window.has_value() == (budget_seconds > 1));
  }
}

TEST_CASE("one step twice as slow does not lose the race") {
  Race race(kGrid, false);
  const auto first = race.next(0, 1e9);
  REQUIRE(first);
  race.record(*first, std::vector<double>(4, 1.0), 0, 0);
  const auto second = race.next(0, 1e9);
  REQUIRE(second);
  REQUIRE(second->abort_step_seconds > 0);
  race.record(*second, {second->abort_step_seconds * 1.1}, 0, 0);
  CHECK_FALSE(race.entrants()[second->entrant].dropped);
  CHECK_FALSE(race.entrants()[second->entrant].looked);
  run(race, [&](auto a, auto b) { return system_of(a, b) == race.entrants()[second->entrant].system ? 0.5 : 1.0; });
  CHECK(*race.best() == second->entrant);
}

TEST_CASE("without a budget nothing is measured, and nothing is concluded") {
  Race race(kGrid, false);
  race.set_yardstick(1);
  CHECK_FALSE(race.next(0, 0));
  CHECK_FALSE(race.best());
  CHECK_FALSE(race.conclusive());
}

TEST_CASE("after a restart all but the hopeless run again") {
  Race race(kGrid, false);
  run(race, [](auto a, auto b) { return a == 0 && b == 0 ? 50.0 : 1.0 + 0.2 * static_cast<double>(a); });
  race.restart();
  CHECK_FALSE(race.entrants()[0].alive());
  CHECK(race.step_seconds(0) == 50.0);
  CHECK(race.step_seconds(1) == 0);
  run(race, [](auto a, auto) { return a == 1 ? 0.5 : 1.0; });
  CHECK(std::get<std::int64_t>(race.entrants()[*race.best()].system.at("a")) == 1);
}

TEST_CASE("predictions multiply the effects of single values and leave what is known alone") {
  const auto predicted = predict_step_seconds(kGrid, {8.0, 0, 4.0, 2.0}, 1);
  CHECK(predicted[0] == 8.0);
  CHECK(predicted[3] == 2.0);
  CHECK(predicted[1] < 2.0);  // 1.0 would be the product; few observations count for a little less
  CHECK(predicted[1] > 0.5);
  CHECK(predict_step_seconds(kGrid, {0, 0, 0, 0}, 3)[1] == 3);
}
