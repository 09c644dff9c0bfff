#include "tuner/study/study.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>

#include "tests/tuner/study/make_spec.hpp"

using namespace tandem;
using namespace tandem::tuner;

namespace {

const double kNan = std::nan("");
constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("a trial runs from suggestion to completion, and each fact is an event once") {
  Study study = *Study::create(make_spec(1, 2), 5);
  const TrialId trial = start_trial(study);
  CHECK(study.find(trial)->state == TrialState::running);
  CHECK(tell(study, trial, 1, 0.5) == Decision::proceed);
  CHECK(tell(study, trial, 2, 0.6) == Decision::stop);
  CHECK(study.find(trial)->state == TrialState::completed);
  CHECK(study.done());
  CHECK(!*study.next());
  std::vector<std::string_view> kinds;
  const auto events = study.take_events();
  for (const auto& event : events) kinds.push_back(kind_of(event));
  CHECK(kinds == std::vector<std::string_view>{"suggested", "started", "reported", "reported"});
  CHECK(study.take_events().empty());
}

TEST_CASE("max_trials bounds the study, a finite space ends it early and says so") {
  Study bounded = *Study::create(make_spec(3), 1);
  for (int i = 0; i < 3; ++i) start_trial(bounded);
  CHECK(!*bounded.next());
  CHECK_FALSE(bounded.exhausted());
  CHECK_FALSE(bounded.done());

  StudySpec spec = make_spec(10);
  spec.space = *Space::create({{"x", IntDomain{1, 4, 1, false}, {}}});
  Study finite = *Study::create(spec, 1);
  std::set<Value> seen;
  for (int i = 0; i < 4; ++i) seen.insert(finite.find(start_trial(finite))->params.at("x"));
  CHECK(seen.size() == 4);
  CHECK(finite.exhausted());
  CHECK(!*finite.next());
}

TEST_CASE("reports: what is late, repeated, out of order or out of range is told apart") {
  Study study = *Study::create(make_spec(2), 1);
  const TrialId trial = start_trial(study);
  CHECK(tell(study, trial, 1, 0.1) == Decision::proceed);
  CHECK(tell(study, trial, 4, 0.4) == Decision::proceed);  // steps 2 and 3 are missing, and that is fine
  static_cast<void>(study.take_events());
  const auto repeated = study.report(trial, 1, accuracy(0.9), 1);
  REQUIRE(repeated);
  CHECK(repeated->repeated);
  CHECK(repeated->decision == Decision::proceed);
  CHECK(study.find(trial)->reports.front().values.at("accuracy") == 0.1);
  CHECK(study.take_events().empty());

  struct Case {
    TrialId trial;
    int step;
    ErrorCode code;
    const char* words;
  };
  for (const Case& c : {Case{trial, 3, ErrorCode::invalid_argument, "step 3 comes too late; step 4 was reported"},
                        Case{trial, 0, ErrorCode::invalid_argument, "allowed: 1 to 9"},
                        Case{trial, 10, ErrorCode::invalid_argument, "allowed: 1 to 9"},
                        Case{trial, -1, ErrorCode::invalid_argument, "allowed: 1 to 9"},
                        Case{7, 1, ErrorCode::not_found, "no trial 7; the study has trials 0 to 0"},
                        Case{-1, 1, ErrorCode::not_found, "no trial -1"}}) {
    CAPTURE(c.words);
    const auto refused = study.report(c.trial, c.step, accuracy(0.5), 1);
    REQUIRE(!refused);
    CHECK(refused.error().code() == c.code);
    CHECK(refused.error().message().find(c.words) != std::string::npos);
  }
  CHECK(!study.report(trial, 5, accuracy(0.5), -1));
  CHECK(!study.report(trial, 5, accuracy(0.5), kNan));
  CHECK(tell(study, trial, 9, 0.5) == Decision::stop);
  CHECK(study.report(trial, 9, accuracy(0.5), 1)->repeated);
  const auto late = study.report(trial, 8, accuracy(0.5), 1);
  REQUIRE(!late);
  CHECK(late.error().message().find("takes no more reports: it is completed") != std::string::npos);
}

TEST_CASE("a report without the objective fails its trial with a clear error; the study goes on") {
  Study study = *Study::create(make_spec(2), 1);
  const TrialId trial = start_trial(study);
  const auto answer = study.report(trial, 1, {{"loss", 0.5}}, 1);
  REQUIRE(answer);
  CHECK(answer->decision == Decision::stop);
  CHECK(answer->error == "report of step 1: no value for the objective \"accuracy\"; reported: loss");
  CHECK(study.find(trial)->state == TrialState::failed);
  CHECK(study.find(trial)->error == "failed: " + answer->error);
  const TrialId second = start_trial(study);
  CHECK(tell(study, second, 9, 0.5) == Decision::stop);
  CHECK(study.done());
  CHECK(study.best()->trial == second);
}

TEST_CASE("best: finite values only, at the last report; ties go to completed, then earlier trials") {
  Study study = *Study::create(make_spec(10), 1);
  CHECK(!study.best());
  for (int i = 0; i < 6; ++i) start_trial(study);
  tell(study, 0, 1, 0.99);
  CHECK(study.best()->trial == 0);
  tell(study, 0, 2, kNan);  // what it was before does not count
  CHECK(!study.best());
  tell(study, 1, 1, kInf);
  CHECK(!study.best());
  tell(study, 3, 1, 0.7);
  tell(study, 2, 1, 0.7);
  CHECK(study.best()->trial == 2);
  tell(study, 4, 9, 0.7);
  CHECK(study.best()->trial == 4);
  tell(study, 5, 1, 0.8);
  CHECK(study.best()->trial == 5);
  REQUIRE(study.fail(5, "killed", ""));
  CHECK(study.best()->trial == 4);
  CHECK(study.best()->step == 9);
  CHECK(study.best()->values == accuracy(0.7));
}

TEST_CASE("best minimizes where the objective says so") {
  StudySpec spec = make_spec(3);
  spec.objectives = {{"loss", false}};
  Study study = *Study::create(spec, 1);
  for (const double loss : {0.5, 0.2, -kInf}) REQUIRE(study.report(start_trial(study), 9, {{"loss", loss}}, 1));
  CHECK(study.best()->trial == 1);
}

TEST_CASE("the Pareto front is the trials that none beats in all objectives") {
  StudySpec spec = make_spec(10);
  spec.objectives = {{"accuracy", true}, {"seconds", false}};
  Study study = *Study::create(spec, 1);
  const std::vector<std::pair<double, double>> values{{0.9, 10}, {0.8, 5},     {0.8, 6}, {0.95, 20}, {0.9, 10},
                                                      {kNan, 1}, {0.7, -kInf}, {0.7, 4}, {0.95, 21}};
  for (const auto& [reached, seconds] : values) {
    REQUIRE(study.report(start_trial(study), 9, {{"accuracy", reached}, {"seconds", seconds}}, 1));
  }
  std::vector<TrialId> front;
  for (const auto& best : study.pareto()) front.push_back(best.trial);
  CHECK(front == std::vector<TrialId>{0, 1, 3, 4, 7});
}

TEST_CASE("enqueued points come first, normalized, and outside points are refused") {
  StudySpec spec = make_spec(3);
  spec.space = *Space::create({{"rate", FloatDomain{0, 5, 0, false}, {}}});
  Study study = *Study::create(spec, 1);
  REQUIRE(study.enqueue({{"rate", std::int64_t{3}}}));
  REQUIRE(study.enqueue({{"rate", 0.25}}));
  for (const Parameters& outside : {Parameters{{"rate", 9.0}}, Parameters{}, Parameters{{"rat", 1.0}},
                                    Parameters{{"rate", 1.0}, {"cores", std::int64_t{1}}}}) {
    CHECK(!study.enqueue(outside));
  }
  CHECK(study.find(start_trial(study))->params == Parameters{{"rate", 3.0}});
  REQUIRE(study.enqueue({{"rate", 1.5}}));
  const auto full = study.enqueue({{"rate", 1.0}});
  REQUIRE(!full);
  CHECK(full.error().message().find("max_trials = 3") != std::string::npos);
  CHECK(study.find(start_trial(study))->params == Parameters{{"rate", 0.25}});
  CHECK(study.find(start_trial(study))->params == Parameters{{"rate", 1.5}});
}

TEST_CASE("an interrupted trial goes on before anything new, from its last report and pipeline state") {
  Study study = *Study::create(make_spec(3), 1);
  const TrialId trial = start_trial(study);
  REQUIRE(study.report(trial, 1, accuracy(0.5), 1, 0, "state-1"));
  REQUIRE(study.interrupted(trial));
  REQUIRE(study.interrupted(trial));  // told twice, handed out once
  const auto again = **study.next();
  CHECK(again.trial == trial);
  CHECK(again.from_step == 1);
  CHECK(again.pipeline_state == "state-1");
  CHECK((**study.next()).trial == trial + 1);
  REQUIRE(study.started(trial, "other"));
  CHECK(study.find(trial)->attempts == 2);
  CHECK(study.find(trial)->worker == "other");
  CHECK(!study.started(trial, "third"));
}

TEST_CASE("finish completes a trial, with or without reports before") {
  Study study = *Study::create(make_spec(5), 1);
  REQUIRE(study.finish(start_trial(study), accuracy(0.4)));
  CHECK(study.find(0)->state == TrialState::completed);
  CHECK(study.best()->values == accuracy(0.4));
  const TrialId reported = start_trial(study);
  tell(study, reported, 3, 0.6);
  REQUIRE(study.finish(reported, {}));
  CHECK(study.best()->trial == reported);
  CHECK(study.best()->step == 3);
  static_cast<void>(study.take_events());
  REQUIRE(study.finish(reported, accuracy(0.9)));  // it had ended: nothing changes
  CHECK(study.take_events().empty());
  const TrialId empty = start_trial(study);
  REQUIRE(study.finish(empty, {}));
  CHECK(study.find(empty)->state == TrialState::failed);
  CHECK(study.find(empty)->error.find("no value for the objective \"accuracy\"; reported: nothing") !=
        std::string::npos);
  CHECK(!study.finish(empty, accuracy(1)));
}

TEST_CASE("a trial fails once, with its cause") {
  Study study = *Study::create(make_spec(2), 1);
  const TrialId trial = start_trial(study);
  REQUIRE(study.fail(trial, "out_of_memory", "needed 9 GiB"));
  CHECK(study.find(trial)->error == "out_of_memory: needed 9 GiB");
  CHECK(!study.fail(trial, "killed", ""));
  CHECK(!study.report(trial, 1, accuracy(1), 1));
  CHECK(!study.interrupted(trial));
}

TEST_CASE("mode = search adds the system parameters to the searched space and splits them off again") {
  StudySpec spec = make_spec(100);
  spec.space = *Space::create({{"x", IntDomain{1, 3, 1, false}, {}}});
  spec.system.mode = SystemMode::search;
  CHECK(!Study::create(spec, 1));  // nothing to search there
  spec.system.values["cores"] = {Value(std::int64_t{1}), Value(std::int64_t{2})};
  spec.system.values["allocator"] = {Value(std::string("default"))};
  Study study = *Study::create(spec, 1);
  std::set<std::pair<Parameters, Parameters>> seen;
  REQUIRE(study.enqueue({{"x", std::int64_t{2}}}));
  REQUIRE(study.enqueue({{"x", std::int64_t{2}}, {"cores", std::int64_t{2}}, {"allocator", std::string("default")}}));
  while (const auto assignment = *study.next()) {
    CHECK(assignment->params.size() == 1);
    CHECK(assignment->system.size() == 2);
    seen.emplace(assignment->params, assignment->system);
  }
  CHECK(seen.size() == 6);
  CHECK(study.find(1)->system.at("cores") == Value(std::int64_t{2}));
}

TEST_CASE("totals add up seconds, energy and what the pipelines told") {
  Study study = *Study::create(make_spec(3, 2), 1);
  for (int i = 0; i < 3; ++i) start_trial(study);
  REQUIRE(study.report(0, 1, accuracy(0.5), 2, 10));
  REQUIRE(study.report(0, 2, accuracy(0.6), 3, 20));
  REQUIRE(study.report(1, 2, accuracy(0.4), 4, 30));
  REQUIRE(study.fail(2, "killed", ""));
  REQUIRE(study.tuned({0, {{"cores", std::int64_t{2}}}, 0.1, 0.2, 30, 100, 0.5, false}));
  REQUIRE(study.tuned({1, {{"cores", std::int64_t{1}}}, 0.1, 0.2, 0, 100, 0.25, true}));
  const StudyTotals sum = totals(study);
  CHECK(sum.completed == 2);
  CHECK(sum.failed == 1);
  CHECK(sum.best_training_seconds == 5);
  CHECK(sum.total_training_seconds == 9);
  CHECK(sum.energy_joules == 60);
  CHECK(sum.probe_steps == 30);
  CHECK(sum.total_steps == 200);
  CHECK(sum.hits == 1);
  CHECK(sum.misses == 1);
  CHECK(sum.excess_seconds == 0.75);
  CHECK(study.find(0)->system == Parameters{{"cores", std::int64_t{2}}});
}

TEST_CASE("an ended study takes test results and nothing else") {
  Study study = *Study::create(make_spec(1, 1), 1);
  tell(study, start_trial(study), 1, 0.5);
  CHECK(!study.end("done", 1));
  REQUIRE(study.progressed(2.0));
  CHECK(!study.progressed(1.0));
  CHECK(!study.end("finished", 1.0));
  REQUIRE(study.end("finished", 3.0));
  CHECK(study.state() == "finished");
  CHECK(study.tuning_seconds() == 3.0);
  REQUIRE(study.test_measured(0, {{"test_accuracy", 0.4}}));
  CHECK(study.find(0)->test_values.at("test_accuracy") == 0.4);
  CHECK(!study.enqueue({{"x", std::int64_t{1}}}));
  CHECK(!study.end("finished", 4.0));
  CHECK(study.done());
}

TEST_CASE("trial seeds differ by trial and by study") {
  const Study one = *Study::create(make_spec(), 1);
  const Study two = *Study::create(make_spec(), 2);
  CHECK(one.trial_seed(0) != one.trial_seed(1));
  CHECK(one.trial_seed(0) != two.trial_seed(0));
  CHECK(one.trial_seed(3) == (*Study::create(make_spec(), 1)).trial_seed(3));
}

TEST_CASE("a space or schedule that cannot be used is refused at creation") {
  StudySpec spec = make_spec();
  spec.search.algorithm = "grid";
  spec.space = *Space::create({{"rate", FloatDomain{0, 1, 0, false}, {}}});
  const auto grid = Study::create(spec, 1);
  REQUIRE(!grid);
  CHECK(grid.error().message().find("[search]: grid search needs a finite space, but rate") == 0);
  StudySpec other = make_asha_spec(false);
  other.schedule.min_epochs = 10;
  CHECK(!Study::create(other, 1));
}
