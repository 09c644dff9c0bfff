/// Ranking: the trials by the first objective at their last report, kept in order as reports come.
#pragma once

#include <compare>
#include <optional>
#include <set>
#include <unordered_map>

#include "tuner/study/study.hpp"

namespace tandem::tuner {

/// The value of `objective` as a cost: less is better. NaN stays NaN.
[[nodiscard]] double cost_of(const Objective& objective, const Values& values);

class Ranking {
 public:
  explicit Ranking(Objective objective) : objective_(std::move(objective)) {}

  /// Places the trial by its last report. Without one, with one that is not finite, or failed, it has no place.
  void update(const Trial& trial);
  /// The best cost; at a tie a completed trial before others, then the one with more epochs, then the earlier one.
  [[nodiscard]] std::optional<TrialId> best() const;

 private:
  struct Key {
    double cost;
    bool incomplete;
    int missing_steps;  ///< fewer is better; minus the last step
    TrialId trial;
    auto operator<=>(const Key&) const = default;
  };

  Objective objective_;
  std::set<Key> order_;
  std::unordered_map<TrialId, Key> keys_;
};

/// The trials that no other one beats in all objectives, by id; only those with finite values count.
[[nodiscard]] std::vector<BestTrial> pareto_front(const std::vector<Objective>& objectives,
                                                  const std::deque<Trial>& trials);

}  // namespace tandem::tuner
