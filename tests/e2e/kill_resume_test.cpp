#include <chrono>
#include <csignal>

#include "runtime/base/random.hpp"
#include "tests/e2e/tandem_process.hpp"

namespace tandem::e2e {
namespace {

using nlohmann::json;

/// Every report of a study, in order, without what depends on the clock.
json curve_of(const std::vector<json>& trials) {
  json curve;
  for (const auto& trial : trials) {
    json reports;
    for (const auto& report : trial["reports"]) reports.push_back({report["step"], report["values"]});
    curve.push_back({trial["trial"], trial["state"], trial["params"], reports});
  }
  return curve;
}

TEST_CASE_FIXTURE(TandemProcess, "a study killed again and again ends bit-equal to an undisturbed one") {
  const std::string more =
      "[schedule]\nalgorithm=\"asha\"\nvariant=\"promotion\"\nmin_epochs=1\n[system]\nmode=\"fixed\"\n";
  const std::vector<std::string> one_slot = {"--quiet", "--set", "study.max_parallel=1"};
  const auto tune = [&](const std::string& file, bool resume) {
    std::vector<std::string> arguments = {"tune", file};
    arguments.insert(arguments.end(), one_slot.begin(), one_slot.end());
    if (resume) arguments.emplace_back("--resume");
    return arguments;
  };
  REQUIRE(run(tune(write("a.toml", digits_study("undisturbed", 9, 81, more)), false)).code == 0);
  const json expected = curve_of(run({"trials", "undisturbed", "--json"}).json_lines());

  const std::string file = write("b.toml", digits_study("killed", 9, 81, more));
  Random random(11);
  int kills = 0;
  bool finished = false;
  while (kills < 10 && !finished) {
    const auto process = start(tune(file, true));
    // Anywhere from before the study exists to far into it; a fast machine may reach the end earlier.
    const auto ended = process->wait_for(std::chrono::milliseconds(random.uniform_int(50, 1500)));
    REQUIRE(ended.has_value());
    finished = ended->has_value();
    if (finished) break;
    REQUIRE(process->kill_group(SIGKILL).has_value());
    REQUIRE(process->wait().has_value());
    ++kills;
  }
  CHECK(kills > 0);
  if (!finished) {
    const Ended last = run(tune(file, true));
    INFO(last.err);
    REQUIRE(last.code == 0);
  }
  CHECK(curve_of(run({"trials", "killed", "--json"}).json_lines()) == expected);
}

TEST_CASE_FIXTURE(TandemProcess, "SIGINT stops cleanly, and --resume ends the study") {
  const std::string file = write("s.toml", digits_study("interrupted", 4, 60, ""));
  const auto process = start_until({"tune", file, "--json"}, "epoch 1/60");
  REQUIRE(process->kill(SIGINT).has_value());
  const Ended stopped = wait(*process);
  CHECK(stopped.signal == 0);
  CHECK(stopped.code == 0);
  CHECK(stopped.json()["state"] == "stopped");
  const Ended refused = run({"tune", file});
  CHECK(refused.code == 2);
  const Ended resumed = run({"tune", file, "--resume", "--json"});
  INFO(resumed.err);
  CHECK(resumed.signal == 0);
  CHECK(resumed.code == 0);
  CHECK(resumed.json()["state"] == "finished");
  CHECK(resumed.json()["trials"]["total"] == 4);
}

}  // namespace
}  // namespace tandem::e2e
