/// A machine and a workload to simulate trials on: step times by batch size and system parameters, shaped like
/// LeNet-5's on two cores of a virtual machine, with noise, disturbances and the cost of changing configurations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/random.hpp"
#include "tuner/pipetune/catalog.hpp"
#include "tuner/pipetune/ground_truth.hpp"
#include "tuner/pipetune/stage_machine.hpp"

namespace tandem::tuner::testing {

/// What a model costs on a machine; every surface of a seed is a variation of this.
struct Surface {
  double sample_seconds = 60e-6;        ///< one core
  double chunk_seconds = 0.7e-3;        ///< fixed cost of a chunk
  double replica_speedup = 1.8;         ///< of two replicas
  double thread_speedup = 1.35;         ///< of two threads
  double large_chunk_penalty = 1.5;     ///< beyond the caches
  double large_fault_seconds = 535e-6;  ///< a sample, default allocator, chunks beyond malloc's threshold
  double small_fault_seconds = 20e-6;   ///< a sample, smaller chunks
  double noise = 0.08;                  ///< deviation of a step's logarithm
  double outlier_share = 0.03;          ///< steps twice as slow
  double slowdown = 1;                  ///< a neighbour's
  double multi_core_slowdown = 1;       ///< a neighbour's, on whoever uses both cores
  std::int64_t samples = 54'000;
  // What the profiler sees of the model
  std::int64_t parameter_count = 61'706;
  double flops_per_sample = 2.5e6;
  double activation_bytes_per_sample = 90e3;

  static Surface random(std::uint64_t seed) {
    Random random(seed);
    const auto between = [&random](double low, double high) { return low + (high - low) * random.uniform(); };
    Surface surface;
    surface.sample_seconds = between(40e-6, 90e-6);
    surface.chunk_seconds = between(0.4e-3, 1.2e-3);
    surface.replica_speedup = between(1.1, 1.98);
    surface.thread_speedup = between(0.9, 1.7);
    surface.large_chunk_penalty = between(1.0, 1.8);
    surface.large_fault_seconds = between(200e-6, 600e-6);
    surface.small_fault_seconds = between(0, 40e-6);
    surface.noise = between(0.05, 0.10);
    surface.outlier_share = between(0, 0.05);
    return surface;
  }

  static std::int64_t integer(const Parameters& system, const char* name) {
    return std::get<std::int64_t>(system.at(name));
  }

  [[nodiscard]] std::int64_t chunk(const Parameters& system, std::int64_t batch) const {
    const std::int64_t share = batch / integer(system, "replicas");
    const std::int64_t micro = integer(system, "micro_batch");
    return micro == 0 ? share : std::min(micro, share);
  }

  /// Without noise.
  [[nodiscard]] double step_seconds(const Parameters& system, std::int64_t batch) const {
    const auto replicas = static_cast<double>(integer(system, "replicas"));
    const std::int64_t size = chunk(system, batch);
    const double chunks = std::ceil(static_cast<double>(batch) / static_cast<double>(size)) / replicas;
    const double speed = (replicas > 1 ? replica_speedup : 1) * (integer(system, "threads") > 1 ? thread_speedup : 1);
    double sample = sample_seconds * (size > 256 ? large_chunk_penalty : 1) / speed;
    if (std::get<std::string>(system.at("allocator")) == "default") {
      sample += size > 256 ? large_fault_seconds : size > 64 ? small_fault_seconds : 0;
    }
    const double seconds = chunks * chunk_seconds + static_cast<double>(batch) * sample + 0.2e-3 * (replicas - 1);
    return seconds * slowdown * (integer(system, "cores") > 1 ? multi_core_slowdown : 1);
  }

  /// Extra time of the first step under a configuration: threads, primitives, fresh pages.
  [[nodiscard]] double change_seconds(const Parameters& system, std::int64_t batch) const {
    const bool retained = std::get<std::string>(system.at("allocator")) == "retain";
    return 4e-3 + (retained ? static_cast<double>(chunk(system, batch)) * 100e-6 : 0);
  }

  /// Noise of one step, a factor.
  [[nodiscard]] double disturbance(Random& random) const {
    const double outlier = random.uniform() < outlier_share ? 2 : 1;
    return std::exp(noise * random.normal()) * outlier;
  }
};

struct TrialOutcome {
  Parameters chosen;
  double seconds = 0;
  double excess_seconds = 0;       ///< of profiled and probed steps beyond the chosen configuration's true time
  double told_excess_seconds = 0;  ///< as the machine reckons
  double regret = 0;               ///< chosen / best static, without noise, minus 1
  double default_ratio = 0;        ///< what the machine believes the defaults take / the truth; 0: not known
  bool hit = false;
  bool probed = false;
  std::int64_t probe_steps = 0;
};

/// Runs windows as a trial host does: never across an epoch's end, ended early by a step beyond the limit.
class SimulatedTrial {
 public:
  static constexpr double kWarmupAllowance = 3;

  SimulatedTrial(Surface surface, std::int64_t batch, int epochs, Random& random)
      : surface(surface), batch(batch), random_(random) {
    settings.candidates = Catalog::builtin().candidates({}, {2, 0}, batch);
    settings.reference = Catalog::builtin().reference({}, {2, 0}, batch);
    settings.steps_per_epoch = std::max<std::int64_t>(surface.samples / batch, 1);
    settings.total_steps = settings.steps_per_epoch * epochs;
  }

  [[nodiscard]] bool done() const { return step >= settings.total_steps; }

  [[nodiscard]] WindowResult run(const WindowRequest& request) {
    WindowResult result;
    if (std::find(broken.begin(), broken.end(), request.system) != broken.end()) {
      result.applied = false;
      result.apply_error = "no permission";
      return result;
    }
    const Parameters system = request.system.empty() ? settings.candidates.front() : request.system;
    const std::int64_t left = settings.steps_per_epoch - step % settings.steps_per_epoch;
    const std::int64_t most = std::clamp<std::int64_t>(request.steps, 1, left);
    const double quiet_seconds = surface.step_seconds(system, batch);
    while (result.steps < most) {
      double seconds = quiet_seconds * surface.disturbance(random_);
      if (active_ != system) seconds += surface.change_seconds(system, batch);
      active_ = system;
      result.seconds += seconds;
      const bool measured = result.steps++ >= request.warmup_steps;
      ++step;
      const bool lost =
          request.abort_step_seconds > 0 && seconds > request.abort_step_seconds * (measured ? 1 : kWarmupAllowance);
      if (measured || lost) result.step_seconds.push_back(seconds);
      if (lost) break;
    }
    result.energy_joules =
        result.seconds * (watts_idle + watts_core * static_cast<double>(Surface::integer(system, "cores")));
    seconds_ += result.seconds;
    if (request.stage != Stage::exploit) {
      open_steps_ += result.steps;
      open_seconds_ += result.seconds;
    }
    return result;
  }

  [[nodiscard]] ProfileVector profile(const WindowResult& result) {
    WindowFacts facts;
    facts.steps = result.steps;
    facts.seconds = result.seconds;
    facts.step_seconds = result.step_seconds;
    facts.user_seconds = result.seconds * 1.5 * std::exp(0.1 * random_.normal());
    facts.system_seconds = result.seconds * 0.05 * std::exp(0.5 * random_.normal());
    facts.minor_faults = result.steps * random_.uniform_int(2, 12);
    facts.voluntary_switches = result.steps * random_.uniform_int(1, 20);
    facts.involuntary_switches = random_.uniform_int(0, 20);
    facts.run_queue_wait_seconds = result.seconds * 0.2 * random_.uniform();
    facts.batch_size = batch;
    facts.parameter_count = surface.parameter_count;
    facts.flops_per_sample = surface.flops_per_sample;
    facts.activation_bytes_per_sample = surface.activation_bytes_per_sample;
    facts.input_elements = 784;
    return make_profile(facts);
  }

  [[nodiscard]] double best_static_seconds() const {
    double least = surface.step_seconds(settings.candidates.front(), batch);
    for (const Parameters& system : settings.candidates) least = std::min(least, surface.step_seconds(system, batch));
    return least;
  }

  [[nodiscard]] TrialOutcome outcome(const StageMachine& machine) const {
    TrialOutcome outcome;
    outcome.chosen = machine.chosen();
    outcome.seconds = seconds_;
    const double chosen_seconds = surface.step_seconds(machine.chosen(), batch);
    outcome.excess_seconds = std::max(open_seconds_ - static_cast<double>(open_steps_) * chosen_seconds, 0.0);
    outcome.told_excess_seconds = machine.excess_seconds();
    outcome.regret = chosen_seconds / best_static_seconds() - 1;
    outcome.default_ratio = machine.default_step_seconds() / surface.step_seconds(settings.candidates.front(), batch);
    outcome.probe_steps = machine.probe_steps();
    return outcome;
  }

  Surface surface;  ///< may change in mid-trial
  std::int64_t batch;
  StageSettings settings;
  std::int64_t step = 0;
  std::vector<Parameters> broken;  ///< cannot be applied
  double watts_idle = 10;
  double watts_core = 10;

 private:
  Random& random_;
  Parameters active_;
  double seconds_ = 0;
  std::int64_t open_steps_ = 0;
  double open_seconds_ = 0;
};

inline GroundTruthKey key_of(std::int64_t batch) { return {batch, 2, "time", "simulated"}; }

/// To the end of the trial, or until `stop` says so; every question is answered with a miss.
template <class Stop>
void run_alone(StageMachine& machine, SimulatedTrial& trial, Stop stop) {
  while (!trial.done() && !stop()) {
    const WindowRequest request = machine.next();
    machine.completed(request, trial.run(request));
    if (machine.awaiting_match()) machine.matched(std::nullopt);
  }
}
inline void run_alone(StageMachine& machine, SimulatedTrial& trial) {
  run_alone(machine, trial, [] { return false; });
}

/// One trial from its first step to its last, asking and feeding the ground truth as the actors do.
inline TrialOutcome run_trial(SimulatedTrial& trial, GroundTruth& ground_truth) {
  StageMachine machine(trial.settings);
  ProfileVector profile;
  bool hit = false;
  bool probed = false;
  while (!trial.done()) {
    const WindowRequest request = machine.next();
    const WindowResult result = trial.run(request);
    machine.completed(request, result);
    if (machine.awaiting_match()) {
      profile = trial.profile(result);
      const auto advice = ground_truth.match(profile, key_of(trial.batch), trial.settings.candidates);
      hit = advice.has_value();
      machine.matched(advice);
    }
    probed = probed || machine.stage() == Stage::probe;
    if (const auto entry = machine.take_contradiction()) ground_truth.contradict(*entry);
    if (machine.take_finding() && !profile.values.empty()) {
      GroundTruthEntry entry;
      entry.profile = profile;
      entry.key = key_of(trial.batch);
      entry.best = machine.chosen();
      entry.best_step_seconds = machine.chosen_step_seconds();
      entry.default_step_seconds = machine.default_step_seconds();
      ground_truth.add(std::move(entry));
    }
  }
  TrialOutcome outcome = trial.outcome(machine);
  outcome.hit = hit;
  outcome.probed = probed;
  return outcome;
}

}  // namespace tandem::tuner::testing
