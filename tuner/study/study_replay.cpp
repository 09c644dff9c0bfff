#include <algorithm>

#include "tuner/space/overloaded.hpp"
#include "tuner/space/value_text.hpp"
#include "tuner/study/study_state.hpp"

namespace tandem::tuner {

namespace {

constexpr auto kContradiction = ErrorCode::data_loss;

bool includes(const Parameters& whole, const Parameters& part) {
  return std::all_of(part.begin(), part.end(), [&](const auto& entry) {
    const auto found = whole.find(entry.first);
    return found != whole.end() && found->second == entry.second;
  });
}

std::string join(const std::vector<TrialId>& ids) { return fmt::format("{}", fmt::join(ids, ", ")); }

}  // namespace

Result<> Study::Implementation::replay(const Event& event) {
  return std::visit(Overloaded{[&](const TrialSuggested& e) { return replay_suggested(e); },
                               [&](const TrialEnqueued& e) { return enqueue(e.params); },
                               [&](const TrialStarted& e) { return replay_started(e); },
                               [&](const TrialReported& e) { return replay_reported(e); },
                               [&](const TrialStaged& e) { return staged(e.trial, e.records); },
                               [&](const TrialTuned& e) { return tuned(e); },
                               [&](const TrialFinished& e) { return finish(e.trial, e.values); },
                               [&](const TrialFailed& e) { return fail_trial(e.trial, e.cause, e.error); },
                               [&](const TestMeasured& e) { return test_measured(e.trial, e.values); },
                               [&](const StudyEnded& e) { return replay_ended(e); },
                               [&](const StudyProgressed& e) { return progressed(e.tuning_seconds); }},
                    event);
}

// The point is taken as recorded, not suggested anew: a later version may search better.
Result<> Study::Implementation::replay_suggested(const TrialSuggested& event) {
  if (const auto open_study = refuse_when_ended(); !open_study) return open_study;
  if (event.trial != static_cast<TrialId>(trials.size())) {
    return tandem::fail(kContradiction, "trial {} is recorded where trial {} must come", event.trial, trials.size());
  }
  Parameters point = event.params;
  point.insert(event.system.begin(), event.system.end());
  if (const auto inside = searched.contains(point); !inside) return forward_error(inside);
  if (!enqueued.empty()) {
    if (!includes(point, enqueued.front())) {
      return tandem::fail(kContradiction, "trial {} is {}, but {} was enqueued", event.trial, canonical_text(point),
                          canonical_text(enqueued.front()));
    }
    enqueued.pop_front();
  }
  add_trial(event.params, event.system);
  return {};
}

Result<> Study::Implementation::replay_started(const TrialStarted& event) {
  const auto found = known(event.trial);
  if (!found) return forward_error(found);
  Trial& trial = **found;
  // A run that was killed leaves no event behind: the trial simply starts again.
  if (trial.state == TrialState::running) trial.state = TrialState::waiting;
  if (trial.state == TrialState::paused) {
    // Only the end of the search promotes outside of a report.
    search_ended = true;
    settle();
  }
  const int from_step = assignment_of(trial).from_step;
  if (event.from_step != from_step) {
    return tandem::fail(kContradiction, "trial {} started from step {}, but its last report is of step {}", event.trial,
                        event.from_step, from_step);
  }
  return started(event.trial, event.worker);
}

Result<> Study::Implementation::replay_reported(const TrialReported& event) {
  const auto answer = report(event);
  if (!answer) return forward_error(answer);
  if (answer->repeated) {
    return tandem::fail(kContradiction, "step {} of trial {} is recorded twice", event.step, event.trial);
  }
  if (!answer->error.empty()) return tandem::fail(kContradiction, "trial {}: {}", event.trial, answer->error);
  if (answer->decision != event.decision) {
    return tandem::fail(kContradiction, "step {} of trial {} was decided \"{}\" and is now decided \"{}\"", event.step,
                        event.trial, to_string(event.decision), to_string(answer->decision));
  }
  if (answer->resumed != event.resumed) {
    return tandem::fail(kContradiction, "step {} of trial {} promoted [{}] and now promotes [{}]", event.step,
                        event.trial, join(event.resumed), join(answer->resumed));
  }
  return {};
}

Result<> Study::Implementation::replay_ended(const StudyEnded& event) {
  if (const auto ended = end(event.state, event.tuning_seconds); !ended) return ended;
  closed = event.state == "finished";
  return {};
}

void Study::Implementation::requeue_running() {
  interrupted_trials.clear();
  for (auto& trial : trials) {
    const auto index = static_cast<std::size_t>(trial.id);
    const bool was_open = trial.state == TrialState::running || trial.state == TrialState::waiting;
    if (!was_open || queued[index]) continue;
    trial.state = TrialState::waiting;
    queued[index] = true;
    interrupted_trials.push_back(trial.id);
  }
}

}  // namespace tandem::tuner
