#include "tuner/study/study.hpp"

#include "tuner/study/study_state.hpp"

namespace tandem::tuner {

std::string_view to_string(TrialState state) noexcept {
  switch (state) {
    case TrialState::waiting:
      return "waiting";
    case TrialState::running:
      return "running";
    case TrialState::paused:
      return "paused";
    case TrialState::completed:
      return "completed";
    case TrialState::stopped:
      return "stopped";
    case TrialState::failed:
      return "failed";
  }
  return "unknown";
}

Study::Study(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
Study::Study(Study&&) noexcept = default;
Study& Study::operator=(Study&&) noexcept = default;
Study::~Study() = default;

Result<Study> Study::create(StudySpec spec, std::uint64_t seed) {
  auto implementation = std::make_unique<Implementation>(std::move(spec), seed);
  if (const auto prepared = implementation->prepare(); !prepared) return forward_error(prepared);
  return Study(std::move(implementation));
}

Result<Study> Study::replay(StudySpec spec, std::uint64_t seed, const std::vector<Event>& events) {
  auto study = create(std::move(spec), seed);
  if (!study) return study;
  Implementation& implementation = *study->implementation_;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (const auto replayed = implementation.replay(events[i]); !replayed) {
      return tandem::fail(ErrorCode::data_loss, "event {} ({}): {}", i, kind_of(events[i]), replayed.error().message());
    }
  }
  implementation.requeue_running();
  implementation.events.clear();
  return study;
}

const StudySpec& Study::spec() const noexcept { return implementation_->spec; }
std::uint64_t Study::seed() const noexcept { return implementation_->seed; }

std::uint64_t Study::trial_seed(TrialId trial) const noexcept {
  return mix_seed(mix_seed(implementation_->seed, "trial"), static_cast<std::uint64_t>(trial));
}

Result<std::optional<Assignment>> Study::next() { return implementation_->next(); }
Result<> Study::started(TrialId trial, std::string worker) {
  return implementation_->started(trial, std::move(worker));
}

Result<Study::ReportAnswer> Study::report(TrialId trial, int step, Values values, double seconds, double energy_joules,
                                          std::string pipeline_state) {
  TrialReported told;
  told.trial = trial;
  told.step = step;
  told.values = std::move(values);
  told.seconds = seconds;
  told.energy_joules = energy_joules;
  told.pipeline_state = std::move(pipeline_state);
  return implementation_->report(std::move(told));
}

Result<> Study::staged(TrialId trial, std::vector<StageRecord> records) {
  return implementation_->staged(trial, std::move(records));
}
Result<> Study::tuned(TrialTuned found) { return implementation_->tuned(std::move(found)); }
Result<> Study::finish(TrialId trial, Values values) { return implementation_->finish(trial, std::move(values)); }
Result<> Study::fail(TrialId trial, std::string cause, std::string error) {
  return implementation_->fail_trial(trial, std::move(cause), std::move(error));
}
Result<> Study::interrupted(TrialId trial) { return implementation_->interrupted(trial); }
Result<> Study::enqueue(Parameters params) { return implementation_->enqueue(std::move(params)); }
Result<> Study::test_measured(TrialId trial, Values values) {
  return implementation_->test_measured(trial, std::move(values));
}
Result<> Study::end(std::string state, double tuning_seconds) {
  return implementation_->end(std::move(state), tuning_seconds);
}
Result<> Study::progressed(double tuning_seconds) { return implementation_->progressed(tuning_seconds); }

std::vector<Event> Study::take_events() { return std::exchange(implementation_->events, {}); }

bool Study::done() const noexcept {
  return implementation_->closed || (implementation_->open == 0 && !implementation_->can_suggest());
}
bool Study::exhausted() const noexcept { return implementation_->exhausted(); }
const std::deque<Trial>& Study::trials() const noexcept { return implementation_->trials; }

const Trial* Study::find(TrialId trial) const noexcept {
  const auto& trials = implementation_->trials;
  return trial >= 0 && static_cast<std::size_t>(trial) < trials.size() ? &trials[static_cast<std::size_t>(trial)]
                                                                       : nullptr;
}

std::optional<BestTrial> Study::best() const {
  const auto id = implementation_->ranking.best();
  if (!id) return std::nullopt;
  const Report& last = find(*id)->reports.back();
  return BestTrial{*id, last.step, last.values};
}

std::vector<BestTrial> Study::pareto() const {
  return pareto_front(implementation_->spec.objectives, implementation_->trials);
}

double Study::tuning_seconds() const noexcept { return implementation_->tuning_seconds; }
std::string Study::state() const { return implementation_->state; }

}  // namespace tandem::tuner
