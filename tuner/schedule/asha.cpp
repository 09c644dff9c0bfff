#include "tuner/schedule/asha.hpp"

#include <cmath>
#include <unordered_map>

#include "tuner/schedule/rung.hpp"

namespace tandem::tuner {

namespace {

class Asha final : public TrialScheduler {
 public:
  explicit Asha(const ScheduleSetup& setup) : promotion_(setup.promotion) {
    for (std::int64_t step = setup.min_epochs; step < setup.epochs; step *= setup.reduction_factor) {
      rungs_.emplace_back(static_cast<int>(step), setup.reduction_factor);
    }
  }

  Decision report(TrialId trial, int step, double cost) override {
    // The highest rung passed; `reached` is how many rungs the trial's earlier reports passed.
    std::size_t& reached = reached_[trial];
    std::size_t passed = reached;
    while (passed < rungs_.size() && rungs_[passed].step() <= step) ++passed;
    if (passed == reached) return Decision::proceed;
    reached = passed;
    const bool promising = std::isfinite(cost) && rungs_[passed - 1].add(trial, cost);
    if (promotion_) return Decision::pause;
    return promising ? Decision::proceed : Decision::stop;
  }

  std::optional<TrialId> promote() override { return take(&Rung::take_best); }
  std::optional<TrialId> promote_last_resort() override { return take(&Rung::take_best_of_at_least_one); }

  void withdrawn(TrialId trial) override {
    if (const std::size_t reached = reached_[trial]; reached > 0) rungs_[reached - 1].withdraw(trial);
  }

 private:
  std::optional<TrialId> take(std::optional<TrialId> (Rung::*taker)()) {
    if (!promotion_) return std::nullopt;
    for (auto rung = rungs_.rbegin(); rung != rungs_.rend(); ++rung) {
      if (const auto trial = ((*rung).*taker)()) return trial;
    }
    return std::nullopt;
  }

  bool promotion_;
  std::vector<Rung> rungs_;  ///< lowest first
  std::unordered_map<TrialId, std::size_t> reached_;
};

}  // namespace

Result<std::unique_ptr<TrialScheduler>> make_asha_scheduler(const ScheduleSetup& setup) {
  constexpr auto kWrong = ErrorCode::invalid_argument;
  if (setup.reduction_factor < 2) return fail(kWrong, "reduction_factor must be at least 2");
  if (setup.min_epochs < 1) return fail(kWrong, "min_epochs must be at least 1");
  if (setup.min_epochs > setup.epochs) {
    return fail(kWrong, "min_epochs = {} must be at most epochs = {}", setup.min_epochs, setup.epochs);
  }
  return std::make_unique<Asha>(setup);
}

}  // namespace tandem::tuner
