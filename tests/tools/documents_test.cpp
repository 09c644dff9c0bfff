#include "tools/cli/documents.hpp"

#include <doctest/doctest.h>

namespace tandem::tools {
namespace {

using nlohmann::json;

tuner::Study study_of(const std::string& objectives) {
  auto spec = tuner::parse_study("[study]\nname=\"s\"\nobjectives=" + objectives +
                                     "\nmax_trials=3\n[trial]\nepochs=2\n[space]\nx={low=0.0,high=1.0}\n",
                                 "s.toml", {}, tuner::StudyUse::asktell);
  REQUIRE(spec.has_value());
  auto study = tuner::Study::create(std::move(*spec), 5);
  REQUIRE(study.has_value());
  return std::move(*study);
}

void run_trial(tuner::Study& study, tuner::Values values, double seconds) {
  const auto assignment = study.next();
  REQUIRE((assignment.has_value() && assignment->has_value()));
  REQUIRE(study.started((*assignment)->trial, "w").has_value());
  REQUIRE(study.report((*assignment)->trial, 2, std::move(values), seconds).has_value());
}

TEST_CASE("the document of tune has every field of the contract") {
  auto study = study_of("[\"accuracy:max\"]");
  run_trial(study, {{"accuracy", 0.5}}, 2);
  run_trial(study, {{"accuracy", 0.75}}, 3);
  REQUIRE(study.tuned({1, {{"cores", std::int64_t{2}}}, 0.5, 1.0, 10, 40, 0.25, true}).has_value());
  REQUIRE(study.test_measured(1, {{"test_accuracy", 0.7}}).has_value());
  const json document = study_document(study, "estimated");
  CHECK(document["study"] == "s");
  CHECK(document["state"] == "running");
  CHECK(document["seed"] == 5);
  CHECK(document["trials"] == json({{"total", 2}, {"completed", 2}, {"stopped", 0}, {"failed", 0}}));
  CHECK(document["best"]["trial"] == 1);
  CHECK(document["best"]["objectives"] == json({{"accuracy", 0.75}}));
  CHECK(document["best"]["system"] == json({{"cores", 2}}));
  CHECK(document["best"]["test"] == json({{"test_accuracy", 0.7}}));
  CHECK(document["training_seconds"] == 3.0);
  CHECK(document["total_training_seconds"] == 5.0);
  CHECK(document["energy_source"] == "estimated");
  CHECK(document["probe"] == json({{"steps", 10},
                                   {"share", 0.25},
                                   {"excess_seconds", 0.25},
                                   {"excess_share", 0.05},
                                   {"hits", 1},
                                   {"misses", 0}}));
  CHECK(document.contains("tuning_seconds"));
  CHECK(document.contains("energy_joules"));
}

TEST_CASE("a study without a finite value has no best and divides by nothing") {
  auto study = study_of("[\"accuracy:max\"]");
  const json document = study_document(study, "estimated");
  CHECK(document["best"].is_null());
  CHECK(document["pareto"] == json::array());
  CHECK(document["probe"]["share"] == 0.0);
  CHECK(document["probe"]["excess_share"] == 0.0);
}

TEST_CASE("several objectives give the trials that none dominates") {
  auto study = study_of("[\"a:max\", \"b:min\"]");
  run_trial(study, {{"a", 1}, {"b", 1}}, 1);
  run_trial(study, {{"a", 2}, {"b", 2}}, 1);
  run_trial(study, {{"a", 0}, {"b", 3}}, 1);
  const json document = study_document(study, "estimated");
  REQUIRE(document["pareto"].size() == 2);
  CHECK(document["pareto"][0]["objectives"].size() == 2);
}

TEST_CASE("the system parameters of a trial are what its pipeline chose, else what it last ran") {
  tuner::Trial trial;
  trial.system = {{"cores", std::int64_t{1}}};
  CHECK(system_of(trial) == trial.system);
  trial.stages.push_back({tuner::Stage::probe, 0, 4, 1, {{"cores", std::int64_t{2}}}});
  CHECK(system_of(trial) == trial.stages[0].system);
  trial.tuned = tuner::TrialTuned{};
  trial.tuned->system = {{"cores", std::int64_t{3}}};
  CHECK(system_of(trial) == trial.tuned->system);
  const json document = trial_document(trial);
  CHECK(document["stages"][0] ==
        json({{"stage", "probe"}, {"from_step", 0}, {"to_step", 4}, {"seconds", 1.0}, {"system", {{"cores", 2}}}}));
}

}  // namespace
}  // namespace tandem::tools
