#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tuner/schedule/trial_scheduler.hpp"

using namespace tandem;
using namespace tandem::tuner;

namespace {

std::unique_ptr<TrialScheduler> asha(int epochs, int min_epochs, int factor, bool promotion) {
  return *make_trial_scheduler("asha", {epochs, min_epochs, factor, promotion});
}

constexpr auto kContinue = Decision::proceed;
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

}  // namespace

TEST_CASE("stopping: the first trial at a rung goes on, a worse one stops, a better one goes on") {
  auto scheduler = asha(9, 1, 3, false);
  CHECK(scheduler->report(0, 1, 0.5) == kContinue);
  CHECK(scheduler->report(1, 1, 0.6) == Decision::stop);
  CHECK(scheduler->report(2, 1, 0.4) == kContinue);
  CHECK(scheduler->report(2, 2, 9.0) == kContinue);  // between rungs
  CHECK(scheduler->report(2, 3, 9.0) == kContinue);  // first at the rung of 3
  CHECK(scheduler->report(0, 3, 9.5) == Decision::stop);
}

TEST_CASE("a tie goes to the earlier trial, whichever reported first") {
  auto scheduler = asha(9, 1, 3, false);
  CHECK(scheduler->report(1, 1, 0.5) == kContinue);
  CHECK(scheduler->report(2, 1, 0.5) == Decision::stop);
  CHECK(scheduler->report(0, 1, 0.5) == kContinue);
  auto zeros = asha(9, 1, 3, false);
  CHECK(zeros->report(0, 1, 0.0) == kContinue);
  CHECK(zeros->report(1, 1, -0.0) == Decision::stop);
}

TEST_CASE("what is not finite stops at a rung and does not count there") {
  for (const double bad : {kNan, kInf, -kInf}) {
    auto scheduler = asha(9, 1, 2, false);
    CHECK(scheduler->report(0, 1, bad) == Decision::stop);
    CHECK(scheduler->report(1, 1, 0.5) == kContinue);
    CHECK(scheduler->report(2, 1, bad) == Decision::stop);
    // n is 2 here, not 4: only the best one goes on.
    CHECK(scheduler->report(3, 1, 0.6) == Decision::stop);
  }
}

TEST_CASE("a report between rungs decides nothing, not even one that is not finite") {
  auto scheduler = asha(9, 3, 3, false);
  CHECK(scheduler->report(0, 1, kNan) == kContinue);
  CHECK(scheduler->report(0, 2, kInf) == kContinue);
  CHECK(scheduler->report(0, 3, 1.0) == kContinue);
}

TEST_CASE("a report that skips a rung counts at the highest one passed only") {
  auto scheduler = asha(27, 1, 3, false);
  CHECK(scheduler->report(0, 4, 0.1) == kContinue);  // at the rung of 3
  CHECK(scheduler->report(1, 1, 0.9) == kContinue);  // the first at the rung of 1
  CHECK(scheduler->report(1, 3, 0.9) == Decision::stop);
  CHECK(scheduler->report(0, 5, 0.9) == kContinue);  // passes none
}

TEST_CASE("promotion: each rung pauses, the best third is promoted once, highest rung first") {
  auto scheduler = asha(9, 1, 3, true);
  CHECK(scheduler->report(0, 1, 0.3) == Decision::pause);
  CHECK(scheduler->report(1, 1, 0.2) == Decision::pause);
  CHECK(!scheduler->promote());
  CHECK(scheduler->report(2, 1, 0.4) == Decision::pause);
  CHECK(scheduler->promote() == TrialId{1});
  CHECK(!scheduler->promote());
  CHECK(scheduler->report(1, 2, 5.0) == kContinue);
  for (TrialId trial = 3; trial < 9; ++trial)
    CHECK(scheduler->report(trial, 1, 0.1 * static_cast<double>(trial)) == Decision::pause);
  CHECK(scheduler->promote() == TrialId{0});  // 0.3 ties with trial 3, and is the earlier
  CHECK(scheduler->promote() == TrialId{3});
  CHECK(scheduler->report(1, 3, 0.2) == Decision::pause);
  CHECK(scheduler->report(0, 3, 0.1) == Decision::pause);
  CHECK(scheduler->report(3, 3, 0.3) == Decision::pause);
  CHECK(scheduler->promote() == TrialId{0});
}

TEST_CASE("promotion: as a last resort the best one of fewer than η goes on") {
  auto scheduler = asha(9, 1, 3, true);
  scheduler->report(0, 1, kNan);
  scheduler->report(1, 1, 0.4);
  scheduler->report(2, 1, 0.3);
  CHECK(!scheduler->promote());
  CHECK(scheduler->promote_last_resort() == TrialId{2});
  CHECK(!scheduler->promote_last_resort());
  scheduler->report(2, 3, 0.3);
  CHECK(scheduler->promote_last_resort() == TrialId{2});
}

TEST_CASE("promotion: neither NaN nor a trial that is gone is promoted") {
  auto scheduler = asha(9, 1, 2, true);
  scheduler->report(0, 1, -kInf);
  CHECK(!scheduler->promote_last_resort());
  scheduler->report(1, 1, 0.4);
  scheduler->report(2, 1, 0.5);
  scheduler->withdrawn(1);
  CHECK(!scheduler->promote());
}

TEST_CASE("any epochs, lowest rung and η work, and nonsense is refused") {
  for (const int factor : {2, 3, 7, 1000}) {
    for (const int epochs : {1, 2, 100, 1'000'000}) {
      for (const int lowest : {1, epochs}) {
        auto scheduler = asha(epochs, lowest, factor, true);
        CHECK(scheduler->report(0, epochs - 1, 1.0) == (epochs - 1 >= lowest ? Decision::pause : kContinue));
      }
    }
  }
  CHECK(!make_trial_scheduler("asha", {9, 1, 1, false}));
  CHECK(!make_trial_scheduler("asha", {9, 10, 3, false}));
  CHECK(!make_trial_scheduler("asha", {9, 0, 3, false}));
  const auto unknown = make_trial_scheduler("ahsa", {9, 1, 3, false});
  REQUIRE(!unknown);
  CHECK(unknown.error().message() == "no schedule \"ahsa\"; available: none, asha");
}

TEST_CASE("without a schedule every trial goes on") {
  auto scheduler = *make_trial_scheduler("none", {9, 1, 3, false});
  CHECK(scheduler->report(0, 1, kNan) == kContinue);
  CHECK(!scheduler->promote());
  CHECK(!scheduler->promote_last_resort());
}
