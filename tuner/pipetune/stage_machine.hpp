/// StageMachine: the pipeline of one trial, profile → match → (probe)* → exploit → watch, as a pure state machine.
/// The caller runs the windows it asks for; every window trains the model.
/// After PipeTune (Rocha et al., Middleware 2020), section 5, with windows of steps in place of epochs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/pipetune/ground_truth.hpp"
#include "tuner/pipetune/race.hpp"
#include "tuner/space/value.hpp"

namespace tandem::tuner {

enum class Stage { profile, match, probe, exploit };
[[nodiscard]] std::string_view to_string(Stage stage) noexcept;

/// What the trial shall run next.
struct WindowRequest {
  Stage stage = Stage::exploit;
  Parameters system;
  int steps = 0;         ///< at most; the caller may end earlier at the end of an epoch
  int warmup_steps = 0;  ///< the first steps after a change, not measured
  /// Stop the window as soon as one measured step takes longer than this, or a warm-up step several times as long:
  /// the candidate has lost. That last step is reported among the measured ones. 0: no limit.
  double abort_step_seconds = 0;
};

/// What came of it.
struct WindowResult {
  int steps = 0;                     ///< steps done, warm-up included
  std::vector<double> step_seconds;  ///< measured steps only
  double seconds = 0;                ///< whole window, warm-up and applying included
  double energy_joules = 0;
  bool applied = true;  ///< false: the system parameters could not be applied; nothing was changed
  std::string apply_error;
};

struct StageSettings {
  std::vector<Parameters> candidates;  ///< joint grid; the first one is the trial's default configuration
  Parameters reference;                ///< configuration that every profile is taken under
  std::int64_t total_steps = 0;        ///< of the whole trial
  std::int64_t steps_per_epoch = 0;
  double budget_share = 0.05;  ///< excess seconds / training seconds
  bool minimize_energy = false;
};

/// One contiguous run of steps in one stage under one configuration, for `trials` and the trace.
struct StageRecord {
  Stage stage = Stage::exploit;
  std::int64_t from_step = 0;
  std::int64_t to_step = 0;  ///< exclusive
  double seconds = 0;
  Parameters system;
};

/// What was learned about one candidate.
struct CandidateMeasurement {
  Parameters system;
  double step_seconds = 0;  ///< median of measured steps; dropped early: of the few there are
  int measured_steps = 0;
  bool dropped_early = false;
  std::string apply_error;  ///< not empty: it could not be applied
};

class StageMachine {
 public:
  /// With a single candidate, or hardly any steps, there is nothing to find: it exploits at once.
  explicit StageMachine(StageSettings settings);

  /// True while the ground truth must be asked, with the profile of the window just completed (earlier profile
  /// windows settle the model): call `matched` before `next`.
  [[nodiscard]] bool awaiting_match() const noexcept;
  /// The answer to the ground-truth question; nullopt is a miss.
  void matched(const std::optional<GroundTruthHit>& hit);

  [[nodiscard]] WindowRequest next() const;
  void completed(const WindowRequest& request, const WindowResult& result);

  [[nodiscard]] Stage stage() const noexcept;
  /// The best configuration known, once exploiting. Empty: none can be applied, the trial runs as it is.
  [[nodiscard]] const Parameters& chosen() const noexcept;
  /// What a step takes under it, as measured or, right after a hit, as expected; 0: not known yet.
  [[nodiscard]] double chosen_step_seconds() const noexcept;
  /// What a step takes under the defaults: measured, at least that if dropped early, or a hit's; 0: not known.
  [[nodiscard]] double default_step_seconds() const;
  [[nodiscard]] std::vector<CandidateMeasurement> measurements() const;
  [[nodiscard]] std::int64_t probe_steps() const noexcept;
  /// Time of profiled and probed steps beyond what `chosen()` would have taken for them.
  [[nodiscard]] double excess_seconds() const noexcept;
  /// True once, when a probe has ended and its result should join the ground truth.
  [[nodiscard]] bool take_finding() noexcept;
  /// Once, when a probe has refuted a hit: the entry whose advice was wrong.
  [[nodiscard]] std::optional<std::int64_t> take_contradiction() noexcept;
  /// What was run since the last call; a run still going on appears in parts. Not part of what `save` saves.
  std::vector<StageRecord> take_records();

  /// JSON, to pause and resume a trial in the middle of its pipeline. Under other candidates (another lease) nothing
  /// measured holds: the restored machine then begins anew, but keeps account of the steps and the excess.
  [[nodiscard]] std::string save() const;
  static Result<StageMachine> restore(StageSettings settings, std::string_view saved);

 private:
  void plan();
  void plan_profile();
  void plan_probe();
  void plan_exploit();
  void book(const WindowRequest& request, const WindowResult& result, const std::vector<double>& measured);
  void not_applied(const WindowRequest& request, const WindowResult& result);
  void profiled(const WindowResult& result, const std::vector<double>& measured);
  void probed(const WindowRequest& request, const WindowResult& result, const std::vector<double>& measured);
  void exploited(const std::vector<double>& measured);
  void verify(double step_seconds);
  void watch(double step_seconds);
  void start_probe();
  void probe_again();
  void finish_probe();
  void exploit(Parameters system, double step_seconds);
  void settle_excess();
  [[nodiscard]] int warmup_steps(const Parameters& system, double step_seconds) const;
  [[nodiscard]] double budget_seconds() const;
  [[nodiscard]] double best_step_seconds() const;
  [[nodiscard]] std::int64_t steps_left() const noexcept;

  StageSettings settings_;
  Race race_;
  Stage stage_ = Stage::profile;
  WindowRequest request_;

  // The trial so far
  std::int64_t done_steps_ = 0;
  double training_seconds_ = 0;
  Parameters active_;              ///< configuration of the last window
  std::int64_t active_steps_ = 0;  ///< run under it without a break
  int empty_windows_ = 0;          ///< in a row
  std::vector<StageRecord> records_;

  // Profile and match
  Parameters reference_;
  std::vector<double> profile_seconds_;  ///< measured steps
  bool awaiting_match_ = false;
  std::optional<GroundTruthHit> hit_;  ///< advice followed
  double default_step_seconds_ = 0;    ///< as a hit told, or measured before conditions changed

  // Probe
  std::int64_t probe_steps_ = 0;
  std::int64_t open_steps_ = 0;  ///< profiled and probed since the excess was last settled
  double open_seconds_ = 0;
  double settled_excess_seconds_ = 0;
  int reprobes_ = 0;
  bool finding_ = false;
  std::optional<std::int64_t> contradiction_;

  // Exploit and watch
  Parameters chosen_;
  double expected_step_seconds_ = 0;
  bool calibrating_ = false;  ///< the expectation rests on a probe's few steps: the first window corrects it
  int verifications_ = 0;     ///< windows left in which a hit must prove itself
  int departures_ = 0;        ///< windows in a row far off the expectation, slower: positive, faster: negative
  bool disturbed_ = false;    ///< chosen while the machine was slower than at first

  friend struct StageMachineJson;
};

}  // namespace tandem::tuner
