/// Studies for tests: one integer parameter x, one objective.
#pragma once

#include <doctest/doctest.h>

#include "tuner/study/study.hpp"

namespace tandem::tuner {

inline StudySpec make_spec(int max_trials = 10, int epochs = 9) {
  StudySpec spec;
  spec.name = "test";
  spec.objectives = {{"accuracy", true}};
  spec.max_trials = max_trials;
  spec.trial.epochs = epochs;
  spec.space = *Space::create({{"x", IntDomain{0, 1'000'000, 1, false}, {}}});
  return spec;
}

inline StudySpec make_asha_spec(bool promotion, int max_trials = 10, int epochs = 9) {
  StudySpec spec = make_spec(max_trials, epochs);
  spec.schedule = {"asha", 3, 1, promotion};
  return spec;
}

inline Values accuracy(double value) { return {{"accuracy", value}}; }

/// Takes a new trial and starts it; its id.
inline TrialId start_trial(Study& study) {
  const auto assignment = study.next().value().value();
  REQUIRE(study.started(assignment.trial, "worker"));
  return assignment.trial;
}

/// Reports one step; the decision.
inline Decision tell(Study& study, TrialId trial, int step, double value) {
  return study.report(trial, step, accuracy(value), 1.0).value().decision;
}

}  // namespace tandem::tuner
