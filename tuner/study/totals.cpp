#include "tuner/study/study.hpp"

namespace tandem::tuner {

StudyTotals totals(const Study& study) {
  StudyTotals sum;
  const auto best = study.best();
  for (const auto& trial : study.trials()) {
    sum.completed += trial.state == TrialState::completed;
    sum.stopped += trial.state == TrialState::stopped;
    sum.failed += trial.state == TrialState::failed;
    double seconds = 0;
    for (const auto& report : trial.reports) {
      seconds += report.seconds;
      sum.energy_joules += report.energy_joules;
    }
    sum.total_training_seconds += seconds;
    if (best && best->trial == trial.id) sum.best_training_seconds = seconds;
    if (!trial.tuned) continue;
    sum.probe_steps += trial.tuned->probe_steps;
    sum.total_steps += trial.tuned->total_steps;
    sum.excess_seconds += trial.tuned->excess_seconds;
    ++(trial.tuned->hit ? sum.hits : sum.misses);
  }
  return sum;
}

}  // namespace tandem::tuner
