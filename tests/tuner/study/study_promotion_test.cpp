#include <doctest/doctest.h>

#include <cmath>

#include "tests/tuner/study/make_spec.hpp"

using namespace tandem;
using namespace tandem::tuner;

TEST_CASE("stopping: a stopped trial is stopped for good, the first one completes") {
  Study study = *Study::create(make_asha_spec(false, 3, 3), 1);
  for (int i = 0; i < 3; ++i) start_trial(study);
  CHECK(tell(study, 0, 1, 0.5) == Decision::proceed);
  CHECK(tell(study, 1, 1, 0.4) == Decision::stop);
  CHECK(tell(study, 2, 1, std::nan("")) == Decision::stop);
  CHECK(tell(study, 0, 2, 0.5) == Decision::proceed);
  CHECK(tell(study, 0, 3, 0.5) == Decision::stop);
  CHECK(study.find(0)->state == TrialState::completed);
  CHECK(study.find(1)->state == TrialState::stopped);
  CHECK(study.done());
}

TEST_CASE("promotion: the report that frees the slot names the trial promoted, and next hands it out first") {
  Study study = *Study::create(make_asha_spec(true, 9, 9), 1);
  for (int i = 0; i < 3; ++i) start_trial(study);
  CHECK(tell(study, 0, 1, 0.5) == Decision::pause);
  CHECK(tell(study, 1, 1, 0.7) == Decision::pause);
  const auto third = study.report(2, 1, accuracy(0.6), 1);
  REQUIRE(third);
  CHECK(third->decision == Decision::pause);
  CHECK(third->resumed == std::vector<TrialId>{1});
  CHECK(study.find(1)->state == TrialState::waiting);
  CHECK(study.find(0)->state == TrialState::paused);
  const auto paused = study.report(0, 2, accuracy(0.9), 1);
  REQUIRE(!paused);
  CHECK(paused.error().code() == ErrorCode::failed_precondition);
  const auto assignment = **study.next();
  CHECK(assignment.trial == 1);
  CHECK(assignment.from_step == 1);
  CHECK((**study.next()).trial == 3);
}

TEST_CASE("a promoted trial that was started at once is not handed out again") {
  Study study = *Study::create(make_asha_spec(true, 9, 9), 1);
  for (int i = 0; i < 3; ++i) start_trial(study);
  for (const TrialId trial : {0, 1, 2}) tell(study, trial, 1, 0.5);
  REQUIRE(study.find(0)->state == TrialState::waiting);
  REQUIRE(study.started(0, "caller"));
  CHECK((**study.next()).trial == 3);
}

TEST_CASE("when no trial can start any more and none has completed, the best one goes on") {
  Study study = *Study::create(make_asha_spec(true, 2, 9), 1);
  start_trial(study);
  start_trial(study);
  CHECK(tell(study, 0, 1, 0.8) == Decision::pause);
  const auto last = study.report(1, 1, accuracy(0.6), 1);
  CHECK(last->resumed == std::vector<TrialId>{0});
  CHECK(start_trial(study) == 0);
  CHECK(tell(study, 0, 2, 0.8) == Decision::proceed);
  CHECK(study.report(0, 3, accuracy(0.8), 1)->resumed == std::vector<TrialId>{0});
  CHECK(start_trial(study) == 0);
  for (int step = 4; step < 9; ++step) CHECK(tell(study, 0, step, 0.8) == Decision::proceed);
  CHECK(tell(study, 0, 9, 0.8) == Decision::stop);
  CHECK(study.done());
  REQUIRE(study.end("finished", 1));
  CHECK(study.find(1)->state == TrialState::stopped);
}

TEST_CASE("the last resort also follows a failure, and waits while something still runs") {
  Study study = *Study::create(make_asha_spec(true, 2, 9), 1);
  start_trial(study);
  start_trial(study);
  CHECK(study.report(0, 1, accuracy(0.5), 1)->resumed.empty());
  CHECK(study.find(0)->state == TrialState::paused);
  REQUIRE(study.fail(1, "killed", ""));
  CHECK(study.find(0)->state == TrialState::waiting);
  CHECK_FALSE(study.done());
  CHECK((**study.next()).trial == 0);
}

TEST_CASE("a study of NaN ends, with nothing completed") {
  Study study = *Study::create(make_asha_spec(true, 4, 9), 1);
  for (int i = 0; i < 4; ++i) tell(study, start_trial(study), 1, std::nan(""));
  CHECK(study.done());
  CHECK(!*study.next());
  CHECK(!study.best());
}

TEST_CASE("studies of any size with promotion end with a trial completed") {
  for (const int trials : {1, 2, 3, 4, 9, 10, 27}) {
    for (const int epochs : {1, 2, 9, 10, 27}) {
      CAPTURE(trials);
      CAPTURE(epochs);
      Study study = *Study::create(make_asha_spec(true, trials, epochs), 3);
      int turns = 0;
      while (const auto assignment = *study.next()) {
        REQUIRE(++turns < 1000);
        REQUIRE(study.started(assignment->trial, "w"));
        for (int step = assignment->from_step + 1;; ++step) {
          if (tell(study, assignment->trial, step, static_cast<double>(assignment->trial % 7)) != Decision::proceed)
            break;
        }
      }
      CHECK(study.done());
      CHECK(totals(study).completed >= 1);
    }
  }
}

TEST_CASE("stopped keeps paused trials for a later run; finished turns them into stopped") {
  Study study = *Study::create(make_asha_spec(true, 9, 9), 1);
  tell(study, start_trial(study), 1, 0.5);
  const TrialId running = start_trial(study);
  auto events = study.take_events();
  REQUIRE(study.end("stopped", 2));
  CHECK(study.done());
  CHECK(!*study.next());
  CHECK(study.find(0)->state == TrialState::paused);
  for (auto& event : study.take_events()) events.push_back(std::move(event));

  Study again = *Study::replay(make_asha_spec(true, 9, 9), 1, events);
  CHECK(again.state() == "stopped");
  CHECK(again.tuning_seconds() == 2);
  CHECK_FALSE(again.done());
  CHECK((**again.next()).trial == running);
  REQUIRE(again.started(running, "w"));
  CHECK(again.state() == "running");
}
