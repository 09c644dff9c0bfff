#include "actors/study/snapshot.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "actors/codec.hpp"
#include "actors/limits.hpp"

namespace tandem::actors {

using tuner::TrialState;

void SnapshotMaker::progressed(schemas::TrialProgress::Reader progress) {
  Live& live = live_[progress.getTrial()];
  live.step = progress.getStep();
  live.total_steps = progress.getTotalSteps();
  live.stage = progress.getStage().cStr();
  live.step_seconds = progress.getStepSeconds();
  live.system = read_parameters(progress.getSystem());
}

TrialSnapshot SnapshotMaker::describe(const tuner::Trial& trial, const tuner::StudySpec& spec) const {
  TrialSnapshot shown;
  shown.id = trial.id;
  shown.state = trial.state;
  shown.epoch = trial.reports.empty() ? 0 : trial.reports.back().step;
  shown.epochs = spec.trial.epochs;
  shown.params = trial.params;
  shown.system = trial.tuned ? trial.tuned->system : trial.system;
  shown.error = trial.error;
  const std::string& objective = spec.objectives.front().name;
  for (const auto& report : trial.reports) {
    const auto value = report.values.find(objective);
    if (value != report.values.end()) shown.objective_values.push_back(value->second);
  }
  if (const auto found = live_.find(trial.id); found != live_.end() && trial.state == TrialState::running) {
    const Live& live = found->second;
    shown.stage = live.stage;
    shown.step_seconds = live.step_seconds;
    shown.system = live.system;
    if (live.total_steps > 0) {
      const double epochs = static_cast<double>(live.step) * shown.epochs / static_cast<double>(live.total_steps);
      shown.epoch_progress = std::clamp(epochs - shown.epoch, 0.0, 1.0);
    }
  }
  return shown;
}

double SnapshotMaker::seconds_left(const tuner::Study& study, int slots) {
  double seconds = 0, epochs_done = 0, epochs_of_ended = 0, ended = 0;
  for (const auto& trial : study.trials()) {
    for (const auto& report : trial.reports) seconds += report.seconds;
    epochs_done += static_cast<double>(trial.reports.size());
    if (trial.state == TrialState::completed || trial.state == TrialState::stopped) {
      epochs_of_ended += static_cast<double>(trial.reports.size());
      ++ended;
    }
  }
  if (epochs_done == 0) return -1;
  const double epochs_each = ended > 0 ? epochs_of_ended / ended : study.spec().trial.epochs;
  double left = 0;
  for (const auto& trial : study.trials()) {
    if (trial.state != TrialState::running && trial.state != TrialState::waiting) continue;
    left += std::max(0.0, epochs_each - static_cast<double>(trial.reports.size()));
  }
  left += epochs_each * std::max<double>(0, study.spec().max_trials - static_cast<double>(study.trials().size()));
  return left * seconds / epochs_done / std::max(1, slots);
}

StudySnapshot SnapshotMaker::make(const tuner::Study& study, int slots, double elapsed_seconds,
                                  std::string notice) const {
  StudySnapshot shown;
  const auto& spec = study.spec();
  shown.study = spec.name;
  shown.objective = spec.objectives.front().name;
  shown.maximize = spec.objectives.front().maximize;
  shown.elapsed_seconds = elapsed_seconds;
  shown.max_trials = spec.max_trials;
  shown.slots = slots;
  shown.best = study.best();
  shown.eta_seconds = seconds_left(study, slots);
  shown.notice = std::move(notice);
  const auto& trials = study.trials();
  const std::size_t listed_from = trials.size() > kSnapshotTrials ? trials.size() - kSnapshotTrials : 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto& trial = trials[i];
    switch (trial.state) {
      case TrialState::waiting:
        ++shown.waiting;
        break;
      case TrialState::running:
        ++shown.running;
        break;
      case TrialState::paused:
        ++shown.paused;
        break;
      case TrialState::completed:
        ++shown.completed;
        break;
      case TrialState::stopped:
        ++shown.stopped;
        break;
      case TrialState::failed:
        ++shown.failed;
        break;
    }
    if (i >= listed_from || trial.state == TrialState::running) shown.trials.push_back(describe(trial, spec));
  }
  return shown;
}

}  // namespace tandem::actors
