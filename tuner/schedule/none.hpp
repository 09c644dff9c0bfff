/// No scheduling: every trial runs all its epochs.
#pragma once

#include "tuner/schedule/trial_scheduler.hpp"

namespace tandem::tuner {

[[nodiscard]] Result<std::unique_ptr<TrialScheduler>> make_no_scheduler(const ScheduleSetup& setup);

}  // namespace tandem::tuner
