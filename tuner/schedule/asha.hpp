/// ASHA (Li et al., MLSys 2020): asynchronous successive halving, stopping and promotion variants.
///
/// Rungs lie at min_epochs · η^k below the epochs of a complete trial. A trial counts at a rung by its report of that
/// step; a report that skips rungs counts at the highest rung passed, at none below it. Reports between rungs decide
/// nothing. A cost that is not finite ranks worst and does not count in n.
///   Stopping: at a rung a trial goes on exactly when it is finite and among the best max(1, ⌊n/η⌋) of the n finite
///   reports there so far, its own included.
///   Promotion: it pauses at each rung; into a free slot goes, from the highest rung first, the best trial not yet
///   promoted among the best ⌊n/η⌋; as a last resort among the best max(1, ⌊n/η⌋).
#pragma once

#include "tuner/schedule/trial_scheduler.hpp"

namespace tandem::tuner {

[[nodiscard]] Result<std::unique_ptr<TrialScheduler>> make_asha_scheduler(const ScheduleSetup& setup);

}  // namespace tandem::tuner
