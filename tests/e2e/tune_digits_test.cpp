#include "tests/e2e/tandem_process.hpp"

namespace tandem::e2e {
namespace {

using nlohmann::json;

TEST_CASE_FIXTURE(TandemProcess, "tune runs a study to its end and tells what it found, validation and test apart") {
  const std::string study =
      write("s.toml", digits_study("whole", 4, 9, "[schedule]\nalgorithm=\"asha\"\nmin_epochs=3\n"));
  const Ended tuned = run({"tune", study, "--json", "--quiet"});
  INFO(tuned.err);
  REQUIRE(tuned.code == 0);
  CHECK(tuned.err.empty());
  const json document = tuned.json();
  CHECK(document["state"] == "finished");
  CHECK(document["seed"] == 3);
  CHECK(document["trials"]["total"] == 4);
  CHECK(document["trials"]["failed"] == 0);
  CHECK(document["best"]["objectives"]["accuracy"].get<double>() > 0.9);
  CHECK(document["best"]["test"]["test_accuracy"].get<double>() > 0.85);
  CHECK(document["best"]["test"]["test_accuracy_stderr"].get<double>() > 0);
  CHECK(document["total_training_seconds"].get<double>() >= document["training_seconds"].get<double>());
  CHECK(document["probe"]["hits"].get<int>() + document["probe"]["misses"].get<int>() > 0);

  const auto trials = run({"trials", "whole", "--json"}).json_lines();
  REQUIRE(trials.size() == 4);
  for (const auto& trial : trials) {
    const auto state = trial["state"].get<std::string>();
    CHECK((state == "completed" || state == "stopped"));
    int step = 0;
    for (const auto& report : trial["reports"]) CHECK(report["step"] == ++step);
    CHECK_FALSE(trial["stages"].empty());
  }
  CHECK(run({"best", "whole", "--json"}).json()["trial"] == document["best"]["trial"]);
}

TEST_CASE_FIXTURE(TandemProcess, "a second study of the same job starts from what the first one measured") {
  // Two candidates and time enough to tell them apart, on a fast and on a noisy machine: only a probe that ended
  // leaves something to start from.
  const std::string two =
      "[system]\nprobe_budget=1.0\ncores=[1]\nthreads=[1]\nreplicas=[1]\nmicro_batch=[0]\n"
      "allocator=[\"default\",\"retain\"]\n";
  const std::string first = write("a.toml", digits_study("first", 2, 120, two));
  const std::string second = write("b.toml", digits_study("second", 2, 120, two));
  REQUIRE(run({"tune", first, "--json", "--quiet"}).code == 0);
  const Ended again = run({"tune", second, "--json", "--quiet"});
  REQUIRE(again.code == 0);
  CHECK(again.json()["probe"]["hits"].get<int>() > 0);
}

TEST_CASE_FIXTURE(TandemProcess, "the same seed in fixed mode with one slot gives the same study, bit by bit") {
  const std::string study = write("s.toml", "" + digits_study("same", 2, 3, "[system]\nmode=\"fixed\"\n"));
  const std::vector<std::string> arguments = {"tune", study, "--fresh", "--quiet", "--set", "study.max_parallel=1"};
  const auto values_of = [this] {
    json values;
    for (const auto& trial : run({"trials", "same", "--json"}).json_lines()) {
      for (const auto& report : trial["reports"]) values.push_back(report["values"]);
    }
    return values;
  };
  REQUIRE(run(arguments).code == 0);
  const json once = values_of();
  REQUIRE(run(arguments).code == 0);
  CHECK(once.size() == 6);
  CHECK(values_of() == once);
}

}  // namespace
}  // namespace tandem::e2e
