#include <algorithm>
#include <cmath>

#include "tuner/limits.hpp"
#include "tuner/space/value_text.hpp"
#include "tuner/study/study_state.hpp"

namespace tandem::tuner {

namespace {

constexpr auto kWrong = ErrorCode::invalid_argument;
constexpr auto kNotNow = ErrorCode::failed_precondition;

bool has_ended(const Trial& trial) {
  return trial.state == TrialState::completed || trial.state == TrialState::stopped ||
         trial.state == TrialState::failed;
}

bool is_duration(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

int last_step(const Trial& trial) { return trial.reports.empty() ? 0 : trial.reports.back().step; }

const Report* find_report(const Trial& trial, int step) {
  const auto found = std::lower_bound(trial.reports.begin(), trial.reports.end(), step,
                                      [](const Report& report, int wanted) { return report.step < wanted; });
  return found != trial.reports.end() && found->step == step ? &*found : nullptr;
}

}  // namespace

Result<Trial*> Study::Implementation::known(TrialId id) {
  if (id >= 0 && static_cast<std::size_t>(id) < trials.size()) return &trials[static_cast<std::size_t>(id)];
  if (trials.empty()) return tandem::fail(ErrorCode::not_found, "no trial {}; the study has none yet", id);
  return tandem::fail(ErrorCode::not_found, "no trial {}; the study has trials 0 to {}", id, trials.size() - 1);
}

Result<> Study::Implementation::refuse_when_ended() const {
  if (closed) return tandem::fail(kNotNow, "the study has ended ({})", state);
  return {};
}

Result<> Study::Implementation::started(TrialId id, std::string worker) {
  if (const auto open_study = refuse_when_ended(); !open_study) return open_study;
  const auto trial = known(id);
  if (!trial) return forward_error(trial);
  if ((*trial)->state != TrialState::waiting) {
    return tandem::fail(kNotNow, "trial {} cannot start: it is {}", id, to_string((*trial)->state));
  }
  queued[static_cast<std::size_t>(id)] = false;
  (*trial)->state = TrialState::running;
  (*trial)->worker = worker;
  ++(*trial)->attempts;
  state = "running";
  events.push_back(TrialStarted{id, last_step(**trial), std::move(worker)});
  return {};
}

Result<Study::ReportAnswer> Study::Implementation::report(TrialReported told) {
  const auto found = known(told.trial);
  if (!found) return forward_error(found);
  Trial& trial = **found;
  if (const Report* earlier = find_report(trial, told.step)) return ReportAnswer{earlier->decision, {}, true, {}};
  if (const auto checked = check_report(trial, told); !checked) return forward_error(checked);
  if (const std::string missing = missing_objective(told.values); !missing.empty()) {
    const std::string error = fmt::format("report of step {}: {}", told.step, missing);
    if (const auto failed = fail_trial(told.trial, "failed", error); !failed) return forward_error(failed);
    return ReportAnswer{Decision::stop, {}, false, error};
  }

  state = "running";
  trial.state = TrialState::running;
  queued[static_cast<std::size_t>(told.trial)] = false;
  const bool complete = told.step == spec.trial.epochs;
  told.decision = complete ? Decision::stop
                           : scheduler->report(told.trial, told.step, cost_of(spec.objectives.front(), told.values));
  if (!told.pipeline_state.empty()) trial.pipeline_state = told.pipeline_state;
  record(trial, {told.step, told.values, told.seconds, told.energy_joules, told.decision});
  if (told.decision != Decision::proceed) {
    leave(trial, complete                           ? TrialState::completed
                 : told.decision == Decision::pause ? TrialState::paused
                                                    : TrialState::stopped);
    told.resumed = settle();
  }
  ReportAnswer answer{told.decision, told.resumed, false, {}};
  events.push_back(std::move(told));
  return answer;
}

Result<> Study::Implementation::check_report(const Trial& trial, const TrialReported& told) const {
  if (const auto open_study = refuse_when_ended(); !open_study) return open_study;
  if (told.step < 1 || told.step > spec.trial.epochs) {
    return tandem::fail(kWrong, "trial {}: step {} is out of range; allowed: 1 to {} (epochs)", told.trial, told.step,
                        spec.trial.epochs);
  }
  if (has_ended(trial))
    return tandem::fail(kNotNow, "trial {} takes no more reports: it is {}", trial.id, to_string(trial.state));
  if (trial.state == TrialState::paused) {
    return tandem::fail(kNotNow, "trial {} is paused at step {}; it goes on once it is promoted", trial.id,
                        last_step(trial));
  }
  if (told.step < last_step(trial)) {
    return tandem::fail(kWrong, "trial {}: step {} comes too late; step {} was reported already", trial.id, told.step,
                        last_step(trial));
  }
  if (told.values.size() > limits::kMaxReportedValues) {
    return tandem::fail(kWrong, "trial {}: {} values in one report; at most {} are allowed", trial.id,
                        told.values.size(), limits::kMaxReportedValues);
  }
  if (!is_duration(told.seconds) || !is_duration(told.energy_joules)) {
    return tandem::fail(kWrong, "trial {}: seconds = {}, energy_joules = {}: both must be finite and at least 0",
                        trial.id, told.seconds, told.energy_joules);
  }
  return {};
}

std::string Study::Implementation::missing_objective(const Values& values) const {
  for (const auto& objective : spec.objectives) {
    if (values.contains(objective.name)) continue;
    std::string names;
    for (const auto& [name, value] : values) names += (names.empty() ? "" : ", ") + name;
    return fmt::format("no value for the objective \"{}\"; reported: {}", objective.name,
                       names.empty() ? "nothing" : names);
  }
  return {};
}

Result<> Study::Implementation::finish(TrialId id, Values values) {
  const auto found = known(id);
  if (!found) return forward_error(found);
  Trial& trial = **found;
  if (trial.state == TrialState::completed || trial.state == TrialState::stopped) return {};
  if (const auto open_study = refuse_when_ended(); !open_study) return open_study;
  if (trial.state == TrialState::failed || trial.state == TrialState::paused) {
    return tandem::fail(kNotNow, "trial {} cannot finish: it is {}", id, to_string(trial.state));
  }
  if (values.size() > limits::kMaxReportedValues) {
    return tandem::fail(kWrong, "trial {}: {} values; at most {} are allowed", id, values.size(),
                        limits::kMaxReportedValues);
  }
  const bool by_last_report = values.empty() && !trial.reports.empty();
  if (const std::string missing = missing_objective(values); !by_last_report && !missing.empty()) {
    return fail_trial(id, "failed", fmt::format("finish: {}", missing));
  }
  state = "running";
  queued[static_cast<std::size_t>(id)] = false;
  if (!by_last_report) record(trial, {spec.trial.epochs, values, 0, 0, Decision::stop});
  leave(trial, TrialState::completed);
  settle();
  events.push_back(TrialFinished{id, std::move(values)});
  return {};
}

Result<> Study::Implementation::fail_trial(TrialId id, std::string cause, std::string error) {
  if (const auto open_study = refuse_when_ended(); !open_study) return open_study;
  const auto trial = known(id);
  if (!trial) return forward_error(trial);
  if (has_ended(**trial))
    return tandem::fail(kNotNow, "trial {} cannot fail: it is {}", id, to_string((*trial)->state));
  if (error.size() > limits::kMaxTrialErrorBytes) error.resize(limits::kMaxTrialErrorBytes);
  state = "running";
  queued[static_cast<std::size_t>(id)] = false;
  (*trial)->error = error.empty() ? cause : fmt::format("{}: {}", cause, error);
  leave(**trial, TrialState::failed);
  settle();
  events.push_back(TrialFailed{id, std::move(cause), std::move(error)});
  return {};
}

Result<> Study::Implementation::interrupted(TrialId id) {
  const auto trial = known(id);
  if (!trial) return forward_error(trial);
  if (has_ended(**trial) || (*trial)->state == TrialState::paused) {
    return tandem::fail(kNotNow, "trial {} was not running: it is {}", id, to_string((*trial)->state));
  }
  (*trial)->state = TrialState::waiting;
  if (queued[static_cast<std::size_t>(id)]) return {};
  queued[static_cast<std::size_t>(id)] = true;
  interrupted_trials.push_back(id);
  return {};
}

Result<> Study::Implementation::enqueue(Parameters params) {
  if (const auto open_study = refuse_when_ended(); !open_study) return open_study;
  // System parameters may be left out, also where they are searched.
  Parameters own;
  Parameters system;
  for (const auto& [name, value] : params) {
    const bool is_system = spec.space.find(name) == nullptr && searched.find(name) != nullptr;
    (is_system ? system : own).emplace(name, value);
  }
  auto point = spec.space.normalized(own);
  if (!point) return forward_error(point);
  for (const auto& [name, value] : system) {
    auto normal = normalize_value(searched.find(name)->domain, value);
    if (!normal) return forward_error(normal, name);
    point->emplace(name, std::move(*normal));
  }
  const std::size_t planned = trials.size() + enqueued.size();
  if (planned >= static_cast<std::size_t>(spec.max_trials) || enqueued.size() >= limits::kMaxEnqueued) {
    return tandem::fail(kNotNow, "no room for another trial: {} made, {} enqueued, max_trials = {}", trials.size(),
                        enqueued.size(), spec.max_trials);
  }
  enqueued.push_back(*point);
  events.push_back(TrialEnqueued{std::move(*point)});
  return {};
}

Result<> Study::Implementation::staged(TrialId id, std::vector<StageRecord> records) {
  const auto trial = known(id);
  if (!trial) return forward_error(trial);
  if (records.empty()) return {};
  auto& stages = (*trial)->stages;
  if (stages.size() + records.size() > limits::kMaxStageRecords) {
    return tandem::fail(ErrorCode::resource_exhausted, "trial {} has more than {} stage records", id,
                        limits::kMaxStageRecords);
  }
  stages.insert(stages.end(), records.begin(), records.end());
  events.push_back(TrialStaged{id, std::move(records)});
  return {};
}

Result<> Study::Implementation::tuned(TrialTuned found) {
  const auto trial = known(found.trial);
  if (!trial) return forward_error(trial);
  if (!found.system.empty()) (*trial)->system = found.system;
  (*trial)->tuned = found;
  events.push_back(std::move(found));
  return {};
}

Result<> Study::Implementation::test_measured(TrialId id, Values values) {
  const auto trial = known(id);
  if (!trial) return forward_error(trial);
  (*trial)->test_values = values;
  events.push_back(TestMeasured{id, std::move(values)});
  return {};
}

Result<> Study::Implementation::end(std::string end_state, double seconds) {
  if (const auto open_study = refuse_when_ended(); !open_study) return open_study;
  if (end_state != "finished" && end_state != "stopped" && end_state != "failed") {
    return tandem::fail(kWrong, "a study cannot end as \"{}\"; allowed: finished, stopped, failed", end_state);
  }
  if (!is_duration(seconds) || seconds < tuning_seconds) {
    return tandem::fail(kWrong, "tuning_seconds = {}: must be finite and at least {}", seconds, tuning_seconds);
  }
  if (end_state == "finished" && open > 0)
    return tandem::fail(kNotNow, "the study is not finished: {} trials are open", open);
  for (auto& trial : trials) {
    if (end_state == "finished" && trial.state == TrialState::paused) trial.state = TrialState::stopped;
  }
  closed = true;
  state = end_state;
  tuning_seconds = seconds;
  events.push_back(StudyEnded{std::move(end_state), seconds});
  return {};
}

Result<> Study::Implementation::progressed(double seconds) {
  if (!is_duration(seconds) || seconds < tuning_seconds) {
    return tandem::fail(kWrong, "tuning_seconds = {}: must be finite and at least {}", seconds, tuning_seconds);
  }
  tuning_seconds = seconds;
  events.push_back(StudyProgressed{seconds});
  return {};
}

}  // namespace tandem::tuner
