// Whole studies under one seed: the real actors, simulated hosts and network, virtual time.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/sim/simulated_cluster.hpp"

using namespace tandem;
using tests::SimulatedCluster;

namespace {

tuner::StudySpec study_of(const std::string& schedule, const std::string& mode) {
  auto spec = tuner::parse_study(R"(
[study]
name = "simulated"
objectives = ["accuracy:max"]
max_trials = 12
[trial]
workload = "mlp"
dataset = "digits"
epochs = 9
[space]
learning_rate = { low = 1e-3, high = 1e-1, log = true }
batch_size = { choice = [32, 256, 1024] }
[search]
algorithm = "random"
)" + schedule + "\n[system]\nmode = \"" +
                                     mode + "\"\ncores = [1, 2]\n",
                                 "simulated.toml");
  if (!spec) FAIL(spec.error().message());
  return *spec;
}

constexpr const char* kNone = "[schedule]\nalgorithm = \"none\"";
constexpr const char* kStopping = "[schedule]\nalgorithm = \"asha\"\nvariant = \"stopping\"";
constexpr const char* kPromotion = "[schedule]\nalgorithm = \"asha\"\nvariant = \"promotion\"";

/// Accuracy rises with the epoch towards a height that depends on the learning rate; steps gain from a second replica
/// and from retained blocks.
actors::TrialScript script() {
  actors::TrialScript script;
  script.steps_per_epoch = 60;
  script.step_seconds = [](const actors::SessionSpec& session, const tuner::Parameters& system, std::int64_t) {
    const double batch = static_cast<double>(std::get<std::int64_t>(session.params.at("batch_size")));
    double seconds = 1e-3 + batch * 2e-5;
    const auto replicas = system.find("replicas");
    if (replicas != system.end() && std::get<std::int64_t>(replicas->second) == 2) seconds *= 0.6;
    const auto allocator = system.find("allocator");
    if (allocator != system.end() && std::get<std::string>(allocator->second) == "default") seconds *= 1 + batch / 512;
    return seconds;
  };
  script.evaluate = [](const actors::SessionSpec& session, int epoch) {
    const double rate = std::get<double>(session.params.at("learning_rate"));
    const double height = 0.98 - 0.05 * std::abs(std::log10(rate) + 2);
    return actors::Metrics{{"accuracy", height * (1 - std::exp(-0.7 * epoch))}, {"loss", 1.0 / epoch}};
  };
  return script;
}

/// Everything that must not depend on when the head was killed: per trial state, parameters, reported values.
std::string essence(const tuner::Study& study) {
  std::string text;
  for (const auto& trial : study.trials()) {
    text += fmt::format("{} {} lr={:a}", trial.id, to_string(trial.state),
                        std::get<double>(trial.params.at("learning_rate")));
    for (const auto& report : trial.reports) text += fmt::format(" {}:{:a}", report.step, report.values.at("accuracy"));
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("every study ends, with every trial accounted for") {
  for (const char* schedule : {kNone, kStopping, kPromotion}) {
    for (const char* mode : {"fixed", "search", "pipeline"}) {
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        CAPTURE(schedule);
        CAPTURE(mode);
        CAPTURE(seed);
        SimulatedCluster::Disk disk;
        SimulatedCluster cluster(disk, study_of(schedule, mode), seed, script(), 2, 4);
        REQUIRE(cluster.run());
        if (cluster.end().error) FAIL(cluster.end().error->message());
        CHECK(cluster.end().state == "finished");
        CHECK(cluster.study().trials().size() == 12);
        const auto sums = tuner::totals(cluster.study());
        CHECK(sums.completed + sums.stopped == 12);
        CHECK(sums.completed >= 1);
        REQUIRE(cluster.study().best());
        CHECK_FALSE(cluster.study().find(cluster.study().best()->trial)->test_values.empty());
      }
    }
  }
}

TEST_CASE("leases never overlap, even while hosts are killed") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    SimulatedCluster::Disk disk;
    SimulatedCluster cluster(disk, study_of(kPromotion, "fixed"), seed, script(), 2, 4);
    cluster.simulation().on_step([&] {
      const auto cores = cluster.hosts().cores_in_use();
      for (const int core : cores) REQUIRE(cores.count(core) == 1);
    });
    for (int i = 1; i <= 6; ++i) {
      cluster.simulation().after(std::chrono::milliseconds(700 * i), [&] {
        const auto pids = cluster.hosts().alive();
        if (pids.empty() || cluster.ended()) return;
        const auto last = static_cast<std::int64_t>(pids.size()) - 1;
        cluster.hosts().kill(pids[static_cast<std::size_t>(cluster.simulation().random().uniform_int(0, last))]);
      });
    }
    REQUIRE(cluster.run());
    CHECK(cluster.end().state == "finished");
    const auto sums = tuner::totals(cluster.study());
    CHECK(sums.completed + sums.stopped + sums.failed == 12);
    for (const auto& trial : cluster.study().trials()) {
      if (trial.state == tuner::TrialState::failed) CHECK(trial.error.find("killed") != std::string::npos);
    }
  }
}

TEST_CASE("a trial that loses its host by no doing of its own goes on in another, with nothing lost") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    SimulatedCluster::Disk disk;
    SimulatedCluster cluster(disk, study_of(kNone, "fixed"), seed, script(), 2, 4);
    // As when their template ends: all hosts at once, those that warm up included.
    int lost = 0;
    for (int i = 1; i <= 3; ++i) {
      cluster.simulation().after(std::chrono::milliseconds(900 * i), [&] {
        if (cluster.ended()) return;
        for (const std::int64_t pid : cluster.hosts().alive()) cluster.hosts().lose(pid), ++lost;
      });
    }
    REQUIRE(cluster.run());
    CHECK(lost > 0);
    CHECK(cluster.end().state == "finished");
    CHECK(tuner::totals(cluster.study()).completed == 12);
  }
}

TEST_CASE(
    "hosts that end before they are ready are asked for again; when none ever is, the study ends with the cause") {
  for (const int dying : {2, 1000}) {
    CAPTURE(dying);
    SimulatedCluster::Disk disk;
    SimulatedCluster cluster(disk, study_of(kNone, "fixed"), 1, script(), 1, 2);
    cluster.hosts().end_early(dying);
    REQUIRE(cluster.run());
    if (dying == 2) {
      CHECK(tuner::totals(cluster.study()).completed == 12);
    } else {
      REQUIRE(cluster.end().error);
      CHECK(cluster.end().error->message().find("ended before it was ready") != std::string::npos);
    }
  }
}

TEST_CASE("a killed head loses and doubles nothing: with one slot the study is the same bit by bit") {
  for (const char* schedule : {kNone, kStopping, kPromotion}) {
    CAPTURE(schedule);
    const auto spec = study_of(schedule, "fixed");
    SimulatedCluster::Disk quiet_disk;
    SimulatedCluster quiet(quiet_disk, spec, 7, script(), 1, 2);
    REQUIRE(quiet.run());
    const std::string undisturbed = essence(quiet.study());

    SimulatedCluster::Disk disk;
    Random random(11);
    for (int life = 0; life < 10; ++life) {
      SimulatedCluster cluster(disk, spec, 7, script(), 1, 2);
      const auto steps = random.uniform_int(50, 900);
      for (std::int64_t i = 0; i < steps && !cluster.ended(); ++i) cluster.simulation().step();
      if (cluster.ended()) break;
    }
    const auto record = disk.store->find("simulated");
    REQUIRE(record);
    if ((*record)->state != "finished") {
      SimulatedCluster last(disk, spec, 7, script(), 1, 2);
      REQUIRE(last.run());
    }
    const auto replayed = tuner::Study::replay(spec, 7, *disk.store->events("simulated"));
    REQUIRE(replayed);
    CHECK(essence(*replayed) == undisturbed);
  }
}

TEST_CASE("memory leases never exceed what the worker lends, and more than that is refused") {
  auto spec = study_of(kPromotion, "fixed");
  spec.trial.memory_bytes = tests::kMemoryBytes / 2 - 1;
  SimulatedCluster::Disk disk;
  SimulatedCluster cluster(disk, spec, 3, script(), 4, 8);
  std::int64_t most_bytes = 0;
  cluster.simulation().on_step([&] { most_bytes = std::max(most_bytes, cluster.hosts().memory_leased_bytes()); });
  REQUIRE(cluster.run());
  CHECK(cluster.end().state == "finished");
  CHECK(most_bytes == 2 * spec.trial.memory_bytes);  // though cores and slots would do for four

  spec.trial.memory_bytes = tests::kMemoryBytes + 1;
  SimulatedCluster::Disk empty;
  SimulatedCluster refused(empty, spec, 3, script(), 1, 2);
  REQUIRE(refused.run());
  REQUIRE(refused.end().error);
  CHECK(refused.end().error->code() == ErrorCode::infeasible);
  CHECK(refused.end().error->message().find("lends 4.0 GiB") != std::string::npos);
}

TEST_CASE("a full disk ends the study with how to go on, blames no trial, and --resume ends it as if undisturbed") {
  const auto spec = study_of(kNone, "fixed");
  SimulatedCluster::Disk quiet_disk;
  SimulatedCluster quiet(quiet_disk, spec, 7, script(), 1, 2);
  REQUIRE(quiet.run());

  SimulatedCluster::Disk disk;
  {
    SimulatedCluster cluster(disk, spec, 7, script(), 1, 2);
    cluster.simulation().after(std::chrono::seconds(5), [&] {
      disk.files.fail_next_writes(1'000'000, Error(ErrorCode::resource_exhausted, "/state/x: no space left on device"));
    });
    REQUIRE(cluster.run());
    REQUIRE(cluster.end().error);
    CAPTURE(cluster.end().error->message());
    CHECK(cluster.end().error->message().find("no space left on device") != std::string::npos);
    CHECK(cluster.end().error->message().find("--resume") != std::string::npos);
    CHECK(tuner::totals(cluster.study()).failed == 0);
  }
  disk.files.fail_next_writes(0, Error(ErrorCode::internal, ""));
  SimulatedCluster resumed(disk, spec, 7, script(), 1, 2);
  REQUIRE(resumed.run());
  CHECK(resumed.end().state == "finished");
  CHECK(essence(resumed.study()) == essence(quiet.study()));
}

TEST_CASE("a study in which every trial fails is finished, with nothing found and every cause told") {
  auto failing = script();
  failing.fail_at_epoch = 1;
  SimulatedCluster::Disk disk;
  SimulatedCluster cluster(disk, study_of(kStopping, "pipeline"), 7, failing, 2, 4);
  REQUIRE(cluster.run());
  CHECK_FALSE(cluster.end().error);
  CHECK(cluster.end().state == "finished");
  CHECK_FALSE(cluster.study().best());
  CHECK(cluster.study().trials().size() == 12);
  for (const auto& trial : cluster.study().trials()) {
    CHECK(trial.state == tuner::TrialState::failed);
    CHECK(trial.error == "failed: scripted failure");
  }
}

TEST_CASE("a trial whose objective is not finite ranks worst and never wins; the others go on") {
  auto diverging = script();
  diverging.evaluate = [good = diverging.evaluate](const actors::SessionSpec& session, int epoch) {
    auto metrics = good(session, epoch);
    if (std::get<double>(session.params.at("learning_rate")) > 1e-2) metrics["accuracy"] = std::nan("");
    return metrics;
  };
  SimulatedCluster::Disk disk;
  SimulatedCluster cluster(disk, study_of(kStopping, "fixed"), 7, diverging, 2, 4);
  REQUIRE(cluster.run());
  CHECK(cluster.end().state == "finished");
  REQUIRE(cluster.study().best());
  CHECK(std::isfinite(cluster.study().best()->values.at("accuracy")));
  int diverged = 0;
  for (const auto& trial : cluster.study().trials()) {
    if (trial.reports.empty() || std::isfinite(trial.reports.back().values.at("accuracy"))) continue;
    ++diverged;
    CHECK(trial.state == tuner::TrialState::stopped);
    CHECK(trial.reports.size() == 1);
  }
  CHECK(diverged > 0);
  CHECK(diverged < 12);
}

TEST_CASE("the same seed gives the same run") {
  const auto hash = [](std::uint64_t seed) {
    SimulatedCluster::Disk disk;
    SimulatedCluster cluster(disk, study_of(kStopping, "pipeline"), seed, script(), 2, 4);
    REQUIRE(cluster.run());
    return cluster.simulation().trace_hash();
  };
  CHECK(hash(3) == hash(3));
  CHECK(hash(3) != hash(4));
}

TEST_CASE("the pipeline finds what the script rewards, and a second study starts from it") {
  SimulatedCluster::Disk disk;
  SimulatedCluster first(disk, study_of(kNone, "pipeline"), 5, script(), 1, 2);
  REQUIRE(first.run());
  if (first.end().error) FAIL(first.end().error->message());
  for (const auto& trial : first.study().trials()) {
    REQUIRE(trial.tuned);
    CAPTURE(trial.id);
    CHECK(std::get<std::string>(trial.tuned->system.at("allocator")) == "retain");
    CHECK(std::get<std::int64_t>(trial.tuned->system.at("replicas")) == 2);
  }
  const auto first_sums = tuner::totals(first.study());
  CHECK(first_sums.misses >= 1);

  SimulatedCluster::Disk second_disk;
  second_disk.ground_truth = disk.ground_truth;
  SimulatedCluster second(second_disk, study_of(kNone, "pipeline"), 6, script(), 1, 2);
  REQUIRE(second.run());
  const auto sums = tuner::totals(second.study());
  CHECK(sums.hits == 12);
  CHECK(sums.misses == 0);
}
