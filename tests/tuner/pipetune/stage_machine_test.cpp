#include "tuner/pipetune/stage_machine.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/tuner/pipetune/surface.hpp"

using namespace tandem;
using namespace tandem::tuner;
using namespace tandem::tuner::testing;

namespace {

constexpr int kEpochs = 9;

GroundTruthHit advice(const Parameters& best, double expected_step_seconds) {
  GroundTruthHit hit;
  hit.entry = 7;
  hit.best = best;
  hit.expected_step_seconds = expected_step_seconds;
  hit.default_step_seconds = 0.5;
  return hit;
}

/// Runs the profile windows, until the ground truth is asked.
void profile(StageMachine& machine, SimulatedTrial& trial) {
  while (!machine.awaiting_match()) {
    const WindowRequest request = machine.next();
    REQUIRE(request.stage == Stage::profile);
    machine.completed(request, trial.run(request));
  }
}

bool exploiting(const StageMachine& machine) { return machine.stage() == Stage::exploit; }

}  // namespace

TEST_CASE("profiles under the reference, asks, probes after a miss, then exploits the best") {
  Random random(1);
  SimulatedTrial trial(Surface{}, 1024, kEpochs, random);
  StageMachine machine(trial.settings);
  CHECK(machine.stage() == Stage::profile);
  CHECK(machine.next().system == trial.settings.reference);
  profile(machine, trial);
  CHECK(machine.stage() == Stage::match);
  CHECK(trial.step <= 6);
  machine.matched(std::nullopt);
  CHECK(machine.stage() == Stage::probe);
  run_alone(machine, trial, [&] { return exploiting(machine); });
  CHECK(machine.take_finding());
  CHECK_FALSE(machine.take_finding());
  CHECK(machine.next().system == machine.chosen());
  CHECK(trial.outcome(machine).regret <= 0.05);
  CHECK(machine.probe_steps() == trial.step);
}

TEST_CASE("hopeless defaults cost one step and are known from it") {
  Random random(2);
  SimulatedTrial trial(Surface{}, 1024, kEpochs, random);
  StageMachine machine(trial.settings);
  run_alone(machine, trial, [&] { return exploiting(machine); });
  const auto measurements = machine.measurements();
  const auto defaults = std::find_if(measurements.begin(), measurements.end(), [&](const auto& measurement) {
    return measurement.system == trial.settings.candidates.front();
  });
  REQUIRE(defaults != measurements.end());
  CHECK(defaults->dropped_early);
  CHECK(defaults->measured_steps == 1);
  CHECK(machine.default_step_seconds() == doctest::Approx(0.617).epsilon(0.4));
}

TEST_CASE("a hit is exploited at once and, when it keeps its promise, nothing is probed") {
  Random random(3);
  SimulatedTrial trial(Surface{}, 1024, kEpochs, random);
  StageMachine machine(trial.settings);
  profile(machine, trial);
  const Parameters& best = trial.settings.candidates[1];
  machine.matched(advice(best, trial.surface.step_seconds(best, 1024)));
  CHECK(machine.stage() == Stage::exploit);
  CHECK(machine.chosen() == best);
  CHECK(machine.default_step_seconds() == 0.5);
  const std::int64_t profiled = machine.probe_steps();
  run_alone(machine, trial);
  CHECK(machine.probe_steps() == profiled);
  CHECK_FALSE(machine.take_finding());
  CHECK_FALSE(machine.take_contradiction());
}

TEST_CASE("a hit that does not keep its promise is probed, and contradicted if another wins") {
  Random random(4);
  SimulatedTrial trial(Surface{}, 256, kEpochs, random);
  StageMachine machine(trial.settings);
  profile(machine, trial);
  Parameters slow = trial.settings.candidates.back();
  machine.matched(advice(slow, 0.5 * trial.surface.step_seconds(slow, 256)));
  CHECK(machine.chosen() == slow);
  run_alone(machine, trial);
  CHECK(machine.chosen() != slow);
  CHECK(trial.outcome(machine).regret <= 0.05);
  CHECK(machine.take_finding());
  CHECK(machine.take_contradiction() == std::optional<std::int64_t>(7));
  CHECK_FALSE(machine.take_contradiction());
}

TEST_CASE("advice that is no candidate counts as a miss") {
  Random random(5);
  SimulatedTrial trial(Surface{}, 64, kEpochs, random);
  StageMachine machine(trial.settings);
  profile(machine, trial);
  machine.matched(advice({{"cores", std::int64_t{64}}}, 0.001));
  CHECK(machine.stage() == Stage::probe);
}

TEST_CASE("nothing to choose from is exploited at once") {
  StageSettings settings;
  settings.candidates = {{{"cores", std::int64_t{1}}}};
  settings.total_steps = 100;
  settings.steps_per_epoch = 10;
  const StageMachine machine(settings);
  CHECK(machine.stage() == Stage::exploit);
  CHECK(machine.chosen() == settings.candidates.front());
  CHECK(machine.next().steps >= 1);
}

TEST_CASE("epochs of very few steps end windows early, and the pipeline still ends") {
  for (const std::int64_t steps_per_epoch : {1, 2, 3, 5}) {
    CAPTURE(steps_per_epoch);
    Random random(6);
    Surface surface;
    surface.samples = 256 * steps_per_epoch;
    SimulatedTrial trial(surface, 256, 600 / static_cast<int>(steps_per_epoch), random);
    StageMachine machine(trial.settings);
    run_alone(machine, trial, [&] { return exploiting(machine); });
    REQUIRE(exploiting(machine));
    CHECK(trial.outcome(machine).regret <= 0.15);
  }
}

TEST_CASE("windows in which nothing can be measured do not hold the pipeline up") {
  Random random(7);
  SimulatedTrial trial(Surface{}, 256, kEpochs, random);
  StageMachine machine(trial.settings);
  int windows = 0;
  while (!exploiting(machine) && windows++ < 400) {
    const WindowRequest request = machine.next();
    WindowResult result = trial.run(request);
    result.step_seconds.clear();
    machine.completed(request, result);
    if (machine.awaiting_match()) machine.matched(std::nullopt);
  }
  CHECK(exploiting(machine));
}

TEST_CASE("a configuration that cannot be applied is reported and left out") {
  Random random(8);
  SimulatedTrial trial(Surface{}, 256, kEpochs, random);
  trial.broken = {trial.settings.candidates[1], trial.settings.candidates[3]};
  StageMachine machine(trial.settings);
  run_alone(machine, trial);
  int reported = 0;
  for (const auto& measurement : machine.measurements()) reported += measurement.apply_error == "no permission";
  CHECK(reported == 2);
  CHECK(machine.chosen() != trial.broken[0]);
  CHECK(trial.step == trial.settings.total_steps);
}

TEST_CASE("the trial goes on without its reference, and without anything that can be applied") {
  Random random(9);
  SimulatedTrial trial(Surface{}, 256, kEpochs, random);
  SUBCASE("no reference") {
    trial.broken = {trial.settings.reference};
    StageMachine machine(trial.settings);
    run_alone(machine, trial);
    CHECK(trial.outcome(machine).regret <= 0.05);
  }
  SUBCASE("nothing") {
    trial.broken = trial.settings.candidates;
    StageMachine machine(trial.settings);
    int windows = 0;
    run_alone(machine, trial, [&] { return ++windows > 2000; });
    CHECK(trial.done());
    CHECK(machine.chosen().empty());
    CHECK_FALSE(machine.take_finding());
  }
  SUBCASE("what was chosen fails later") {
    StageMachine machine(trial.settings);
    run_alone(machine, trial, [&] { return exploiting(machine); });
    const Parameters first = machine.chosen();
    trial.broken = {first};
    run_alone(machine, trial);
    CHECK(trial.done());
    CHECK(machine.chosen() != first);
    CHECK_FALSE(machine.chosen().empty());
  }
}

TEST_CASE("a neighbour on the second core is noticed within three windows, and its leaving too") {
  Random random(10);
  Surface surface;
  surface.replica_speedup = 1.7;
  SimulatedTrial trial(surface, 256, 40, random);
  trial.settings.total_steps = trial.settings.steps_per_epoch * 40;
  StageMachine machine(trial.settings);
  run_alone(machine, trial, [&] { return trial.step > trial.settings.total_steps / 3; });
  REQUIRE(Surface::integer(machine.chosen(), "cores") == 2);

  trial.surface.multi_core_slowdown = 2.5;
  int windows = 0;
  run_alone(machine, trial, [&] { return machine.stage() == Stage::probe || ++windows > 4; });
  CHECK(machine.stage() == Stage::probe);
  run_alone(machine, trial, [&] { return exploiting(machine); });
  CHECK(Surface::integer(machine.chosen(), "cores") == 1);
  CHECK(trial.outcome(machine).regret <= 0.10);
}

TEST_CASE("noise alone causes no probing, however long the trial") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Surface surface;
    surface.noise = 0.10;
    surface.outlier_share = 0.10;
    SimulatedTrial trial(surface, 512, 60, random);
    StageMachine machine(trial.settings);
    run_alone(machine, trial, [&] { return exploiting(machine); });
    const std::int64_t probed = machine.probe_steps();
    run_alone(machine, trial);
    CHECK(machine.probe_steps() == probed);
  }
}

TEST_CASE("a machine that wavers for ever is probed again a limited number of times, within the budget") {
  Random random(12);
  SimulatedTrial trial(Surface{}, 256, 60, random);
  StageMachine machine(trial.settings);
  int probes = 0;
  bool probing = false;
  int windows = 0;
  run_alone(machine, trial, [&] {
    trial.surface.slowdown = (windows++ / 5) % 2 == 0 ? 1 : 2;
    const bool now = machine.stage() == Stage::probe;
    probes += now && !probing ? 1 : 0;
    probing = now;
    return false;
  });
  CHECK(probes >= 2);
  CHECK(probes <= 4);
  CHECK(machine.excess_seconds() <= 0.08 * trial.outcome(machine).seconds);
}

TEST_CASE("a speed-up only corrects the expectation") {
  Random random(13);
  SimulatedTrial trial(Surface{}, 256, 30, random);
  trial.surface.slowdown = 2;
  StageMachine machine(trial.settings);
  run_alone(machine, trial, [&] { return exploiting(machine); });
  const std::int64_t probed = machine.probe_steps();
  const double before = machine.chosen_step_seconds();
  trial.surface.slowdown = 1;
  run_alone(machine, trial);
  CHECK(machine.probe_steps() == probed);
  CHECK(machine.chosen_step_seconds() == doctest::Approx(before / 2).epsilon(0.2));
}

TEST_CASE("the budget bounds the excess, but for the defaults' one step") {
  for (const double share : {0.0, 0.01, 0.02, 0.05}) {
    CAPTURE(share);
    double excess = 0;
    double seconds = 0;
    double allowance = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Random random(seed);
      SimulatedTrial trial(Surface::random(seed), 512, kEpochs, random);
      trial.settings.budget_share = share;
      StageMachine machine(trial.settings);
      run_alone(machine, trial);
      const TrialOutcome outcome = trial.outcome(machine);
      excess += outcome.excess_seconds;
      seconds += outcome.seconds;
      allowance += trial.surface.step_seconds(trial.settings.candidates.front(), 512);
      allowance += 3 * trial.best_static_seconds();  // the profile
    }
    CHECK(excess <= share * seconds + allowance);
  }
}

TEST_CASE("least energy may be another choice than least time") {
  Random random(14);
  Surface surface;
  surface.replica_speedup = 1.25;
  surface.thread_speedup = 1.1;
  SimulatedTrial trial(surface, 256, kEpochs, random);
  trial.watts_idle = 2;
  trial.watts_core = 20;
  trial.settings.minimize_energy = true;
  StageMachine machine(trial.settings);
  SUBCASE("where energy is known") {
    run_alone(machine, trial);
    CHECK(Surface::integer(machine.chosen(), "cores") == 1);
  }
  SUBCASE("where it is not, time decides") {
    trial.watts_idle = trial.watts_core = 0;
    run_alone(machine, trial);
    CHECK(Surface::integer(machine.chosen(), "cores") == 2);
  }
}

TEST_CASE("records tell every step once, in order") {
  Random random(15);
  SimulatedTrial trial(Surface{}, 512, kEpochs, random);
  StageMachine machine(trial.settings);
  std::vector<StageRecord> records;
  int windows = 0;
  run_alone(machine, trial, [&] {
    if (++windows % 3 == 0) {
      for (auto& record : machine.take_records()) records.push_back(record);
    }
    return false;
  });
  for (auto& record : machine.take_records()) records.push_back(record);
  std::int64_t at = 0;
  double seconds = 0;
  for (const StageRecord& record : records) {
    CHECK(record.from_step == at);
    CHECK(record.to_step > record.from_step);
    at = record.to_step;
    seconds += record.seconds;
  }
  CHECK(at == trial.settings.total_steps);
  CHECK(seconds == doctest::Approx(trial.outcome(machine).seconds));
}

TEST_CASE("a machine saved and restored after any window decides as one that went on") {
  for (const bool hit : {false, true}) {
    CAPTURE(hit);
    Random random(16);
    SimulatedTrial trial(Surface{}, 256, kEpochs, random);
    trial.broken = {trial.settings.candidates[4]};
    StageMachine machine(trial.settings);
    std::string saved = machine.save();
    while (!trial.done()) {
      auto twin = StageMachine::restore(trial.settings, saved);
      REQUIRE(twin);
      CHECK(twin->save() == saved);
      const WindowRequest request = machine.next();
      const WindowResult result = trial.run(request);
      for (StageMachine* each : {&machine, &*twin}) {
        each->completed(request, result);
        if (!each->awaiting_match()) continue;
        each->matched(hit ? std::optional(advice(trial.settings.candidates[2], 1e-3)) : std::nullopt);
      }
      saved = machine.save();
      CHECK(twin->save() == saved);
      CHECK(twin->excess_seconds() == machine.excess_seconds());
    }
  }
}

TEST_CASE("restored while the question is open, it is asked again") {
  Random random(17);
  SimulatedTrial trial(Surface{}, 256, kEpochs, random);
  StageMachine machine(trial.settings);
  profile(machine, trial);
  auto restored = StageMachine::restore(trial.settings, machine.save());
  REQUIRE(restored);
  CHECK(restored->awaiting_match());
}

TEST_CASE("under another lease a restored machine begins anew, and keeps its accounts") {
  Random random(18);
  SimulatedTrial trial(Surface{}, 256, kEpochs, random);
  StageMachine machine(trial.settings);
  run_alone(machine, trial, [&] { return exploiting(machine); });
  StageSettings other = trial.settings;
  other.candidates.pop_back();
  auto restored = StageMachine::restore(other, machine.save());
  REQUIRE(restored);
  CHECK(restored->stage() == Stage::profile);
  CHECK(restored->measurements().empty());
  CHECK(restored->probe_steps() == machine.probe_steps());
  CHECK(restored->excess_seconds() == doctest::Approx(machine.excess_seconds()));
}

TEST_CASE("a damaged state is refused by the name of its field") {
  const StageMachine machine(SimulatedTrial(Surface{}, 256, 1, *std::make_unique<Random>(1)).settings);
  const StageSettings settings = SimulatedTrial(Surface{}, 256, 1, *std::make_unique<Random>(1)).settings;
  const auto saved = nlohmann::json::parse(machine.save());
  CHECK_FALSE(StageMachine::restore(settings, "{"));
  for (const auto& [field, unused] : saved.items()) {
    CAPTURE(field);
    auto damaged = saved;
    damaged[field] = nlohmann::json::object({{"x", nlohmann::json::array()}});
    const auto restored = StageMachine::restore(settings, damaged.dump());
    REQUIRE_FALSE(restored);
    CHECK(restored.error().code() == ErrorCode::data_loss);
    CHECK(restored.error().message().find(field) != std::string::npos);
  }
}
