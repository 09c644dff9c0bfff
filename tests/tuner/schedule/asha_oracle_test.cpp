/// ASHA against its definition, written down as directly as can be: sort everything, every time.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "tuner/schedule/trial_scheduler.hpp"

using namespace tandem;
using namespace tandem::tuner;

namespace {

class Oracle {
 public:
  explicit Oracle(const ScheduleSetup& setup) : setup_(setup) {
    for (std::int64_t rung = setup.min_epochs; rung < setup.epochs; rung *= setup.reduction_factor) {
      rungs_.push_back(static_cast<int>(rung));
    }
  }

  bool is_rung(int step) const { return std::find(rungs_.begin(), rungs_.end(), step) != rungs_.end(); }

  Decision report(TrialId trial, int step, double cost) {
    if (!is_rung(step)) return Decision::proceed;
    if (std::isfinite(cost)) reports_[step].push_back({cost, trial});
    if (setup_.promotion) return Decision::pause;
    return std::isfinite(cost) && among_best(step, trial, 1) ? Decision::proceed : Decision::stop;
  }

  std::optional<TrialId> promote(std::size_t at_least) {
    for (auto rung = rungs_.rbegin(); setup_.promotion && rung != rungs_.rend(); ++rung) {
      auto sorted = reports_[*rung];
      std::sort(sorted.begin(), sorted.end());
      for (const auto& [cost, trial] : sorted) {
        if (promoted_.contains({*rung, trial}) || !among_best(*rung, trial, at_least)) continue;
        promoted_.insert({*rung, trial});
        return trial;
      }
    }
    return std::nullopt;
  }

 private:
  bool among_best(int rung, TrialId trial, std::size_t at_least) {
    auto sorted = reports_[rung];
    std::sort(sorted.begin(), sorted.end());
    const std::size_t count = std::max(at_least, sorted.size() / static_cast<std::size_t>(setup_.reduction_factor));
    for (std::size_t i = 0; i < std::min(count, sorted.size()); ++i) {
      if (sorted[i].second == trial) return true;
    }
    return false;
  }

  ScheduleSetup setup_;
  std::vector<int> rungs_;
  std::map<int, std::vector<std::pair<double, TrialId>>> reports_;
  std::set<std::pair<int, TrialId>> promoted_;
};

/// Few distinct costs, so that ties are frequent, and some that are not finite.
double arbitrary_cost() {
  const int kind = *rc::gen::inRange(0, 20);
  if (kind == 0) return std::nan("");
  if (kind == 1) return std::numeric_limits<double>::infinity();
  if (kind == 2) return -std::numeric_limits<double>::infinity();
  return *rc::gen::inRange(0, 12) * 0.25;
}

}  // namespace

TEST_CASE("property: every decision and promotion is the definition's, in any interleaving") {
  CHECK(rc::check([] {
    ScheduleSetup setup;
    setup.epochs = *rc::gen::inRange(1, 30);
    setup.min_epochs = *rc::gen::inRange(1, setup.epochs + 1);
    setup.reduction_factor = *rc::gen::inRange(2, 5);
    setup.promotion = *rc::gen::arbitrary<bool>();
    auto scheduler = *make_trial_scheduler("asha", setup);
    Oracle oracle(setup);
    std::map<TrialId, int> running;  // and the steps they have done
    std::map<TrialId, int> paused;
    TrialId created = 0;
    const int actions = *rc::gen::inRange(1, 300);
    for (int i = 0; i < actions; ++i) {
      if (running.empty() || *rc::gen::inRange(0, 6) == 0) running[created++] = 0;
      auto trial = std::next(running.begin(), *rc::gen::inRange(0, static_cast<int>(running.size())));
      const int step = ++trial->second;
      const TrialId id = trial->first;
      if (step >= setup.epochs) {
        running.erase(trial);
        continue;
      }
      const double cost = arbitrary_cost();
      const Decision decision = scheduler->report(id, step, cost);
      RC_ASSERT(decision == oracle.report(id, step, cost));
      if (decision == Decision::stop) running.erase(trial);
      if (decision != Decision::pause) continue;
      running.erase(trial);
      paused[id] = step;
      const bool last_resort = *rc::gen::inRange(0, 10) == 0;
      const auto promoted = last_resort ? scheduler->promote_last_resort() : scheduler->promote();
      RC_ASSERT(promoted == oracle.promote(last_resort ? 1 : 0));
      if (!promoted) continue;
      running[*promoted] = paused.at(*promoted);
    }
  }));
}
