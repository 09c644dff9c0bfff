/// TrialScheduler: which trials go on. It sees the first objective only, as a cost: less is better.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "tuner/schedule/decision.hpp"
#include "tuner/space/value.hpp"

namespace tandem::tuner {

/// Deterministic: the same calls in the same order give the same answers.
class TrialScheduler {
 public:
  virtual ~TrialScheduler() = default;
  /// `trial` has done `step` epochs, fewer than a complete trial has. Steps of one trial ascend; some may be missing.
  /// A cost that is not finite ranks worst.
  virtual Decision report(TrialId trial, int step, double cost) = 0;
  /// A slot is free: the paused trial to go on in it, if any deserves to.
  virtual std::optional<TrialId> promote() = 0;
  /// As `promote`, when otherwise no trial could start any more and none has completed.
  virtual std::optional<TrialId> promote_last_resort() = 0;
  /// A paused trial is gone; it cannot be promoted.
  virtual void withdrawn(TrialId trial) = 0;
};

struct ScheduleSetup {
  int epochs = 1;            ///< of a complete trial
  int min_epochs = 1;        ///< the lowest rung
  int reduction_factor = 3;  ///< η
  bool promotion = false;    ///< pause and promote, rather than stop
};

/// The registered algorithms, for errors and help.
[[nodiscard]] std::vector<std::string_view> trial_scheduler_names();
[[nodiscard]] Result<std::unique_ptr<TrialScheduler>> make_trial_scheduler(std::string_view name,
                                                                           const ScheduleSetup& setup);

}  // namespace tandem::tuner
