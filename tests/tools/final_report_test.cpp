#include "tools/display/final_report.hpp"

#include <doctest/doctest.h>

namespace tandem::tools {
namespace {

constexpr std::int64_t kOne = 1;
constexpr std::int64_t kTwo = 2;

struct Report {
  Report() {
    auto spec = tuner::parse_study(
        "[study]\nname=\"s\"\nobjectives=[\"accuracy:max\"]\nmax_trials=9\n[trial]\nepochs=1\n"
        "[space]\nbatch_size={choice=[32,1024]}\n",
        "s.toml", {}, tuner::StudyUse::asktell);
    REQUIRE(spec.has_value());
    auto made = tuner::Study::create(std::move(*spec), 5);
    REQUIRE(made.has_value());
    study.emplace(std::move(*made));
  }

  void trial(std::int64_t batch, double accuracy, double default_seconds, double seconds, tuner::Parameters system) {
    REQUIRE(study->enqueue({{"batch_size", batch}}).has_value());
    const auto given = study->next();
    REQUIRE((given.has_value() && given->has_value()));
    const tuner::TrialId id = (*given)->trial;
    REQUIRE(study->started(id, "w").has_value());
    REQUIRE(study->report(id, 1, {{"accuracy", accuracy}}, 1).has_value());
    REQUIRE(study->tuned({id, std::move(system), seconds, default_seconds, 1, 10, 0.01, false}).has_value());
  }

  std::optional<tuner::Study> study;
};

const tuner::Parameters kRetain = {{"allocator", std::string("retain")}, {"replicas", kTwo}};
const tuner::Parameters kDefault = {{"allocator", std::string("default")}, {"replicas", kOne}};

TEST_CASE_FIXTURE(Report, "the gain of a batch size is the median of those that chose its commonest configuration") {
  trial(1024, 0.5, 3, 1, kRetain);
  trial(1024, 0.6, 4, 1, kRetain);
  trial(1024, 0.7, 9, 1, kDefault);
  trial(32, 0.8, 1, 1, kDefault);
  const auto gains = system_gains(*study);
  REQUIRE(gains.size() == 2);
  CHECK(gains[0].group == "batch 32");
  CHECK(gains[1].group == "batch 1024");
  CHECK(gains[1].speedup == doctest::Approx(3.5));
  CHECK(gains[1].system == kRetain);
  CHECK(gains[1].trials == 2);
}

TEST_CASE_FIXTURE(Report, "trials whose defaults were never measured say nothing about gains") {
  trial(32, 0.5, 0, 1, kRetain);
  CHECK(system_gains(*study).empty());
}

TEST_CASE("a configuration is told by what differs from plain") {
  CHECK(describe_system(kRetain) == "allocator=retain, 2 replicas");
  CHECK(describe_system({{"allocator", std::string("default")}, {"cores", kOne}, {"threads", kTwo}}) ==
        "1 core, 2 threads");
  CHECK(describe_system({{"micro_batch", std::int64_t{128}}}) == "micro-batches of 128");
}

TEST_CASE_FIXTURE(Report, "the report names the best trial, its test values with their error, and the gains") {
  trial(1024, 0.97, 3.1, 1, kRetain);
  REQUIRE(study->test_measured(0, {{"test_accuracy", 0.9722}, {"test_accuracy_stderr", 0.0087}}).has_value());
  const std::string text = final_report(*study, "finished");
  CHECK(text.find("Study s finished") == 0);
  CHECK(text.find("Best: trial 0 after 1 epoch\n") != std::string::npos);
  CHECK(text.find("0.9722 ± 0.0087 (standard error)") != std::string::npos);
  CHECK(text.find("batch 1024: 3.1× faster with allocator=retain, 2 replicas (1 trial)") != std::string::npos);
  CHECK(text.find("probing: 10.0 % of the steps") != std::string::npos);
}

TEST_CASE_FIXTURE(Report, "a study in which nothing was found says so") {
  CHECK(final_report(*study, "finished").find("No trial reported a finite value.") != std::string::npos);
}

}  // namespace
}  // namespace tandem::tools
