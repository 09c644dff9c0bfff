/// Rung: the finite reports at one rung of a successive-halving schedule, with the best ⌊n/η⌋ kept apart.
#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <set>
#include <unordered_set>

#include "tuner/space/value.hpp"

namespace tandem::tuner {

/// Every operation takes time logarithmic in the number of reports.
class Rung {
 public:
  Rung(int step, int reduction_factor) : step_(step), reduction_factor_(static_cast<std::size_t>(reduction_factor)) {}

  [[nodiscard]] int step() const noexcept { return step_; }
  /// Adds a finite report; true: it is among the best max(1, ⌊n/η⌋), its own included.
  bool add(TrialId trial, double cost);
  /// The best trial among the best ⌊n/η⌋ that was not taken yet; now it is.
  std::optional<TrialId> take_best();
  /// As take_best, among the best max(1, ⌊n/η⌋).
  std::optional<TrialId> take_best_of_at_least_one();
  /// `trial` is never taken.
  void withdraw(TrialId trial);

 private:
  /// Ordered best first; a tie goes to the earlier trial.
  struct Entry {
    double cost;
    TrialId trial;
    auto operator<=>(const Entry&) const = default;
  };

  std::optional<TrialId> take(const Entry& entry);

  int step_;
  std::size_t reduction_factor_;
  std::set<Entry> best_;  ///< the best ⌊n/η⌋
  std::set<Entry> rest_;
  std::set<Entry> available_;  ///< those of best_ that were not taken
  std::unordered_set<TrialId> taken_;
};

}  // namespace tandem::tuner
