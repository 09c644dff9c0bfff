/// Study: the state machine of one study. Pure: it is told what happened and answers what to do.
/// The same code runs under `tune`, `asktell` and `simulate`.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "tuner/study/event.hpp"
#include "tuner/study/study_spec.hpp"

namespace tandem::tuner {

enum class TrialState { waiting, running, paused, completed, stopped, failed };
[[nodiscard]] std::string_view to_string(TrialState state) noexcept;

struct Report {
  int step = 0;
  Values values;
  double seconds = 0;
  double energy_joules = 0;
  Decision decision = Decision::proceed;  ///< taken on it
};

/// Everything known of a trial.
struct Trial {
  TrialId id = 0;
  TrialState state = TrialState::waiting;
  Parameters params;
  Parameters system;
  std::vector<Report> reports;  ///< by step, ascending; a caller that told no value for a step leaves it out
  std::vector<StageRecord> stages;
  std::optional<TrialTuned> tuned;
  std::string pipeline_state;
  Values test_values;
  std::string worker;
  std::string error;  ///< of a failed trial: cause and text
  int attempts = 0;   ///< how often it was started
};

/// What to run in a free slot.
struct Assignment {
  TrialId trial = 0;
  Parameters params;
  Parameters system;
  int from_step = 0;           ///< epochs already done and durable; resume from that checkpoint
  std::string pipeline_state;  ///< empty at the beginning
};

struct BestTrial {
  TrialId trial = 0;
  int step = 0;
  Values values;  ///< at its last report
};

class Study {
 public:
  /// A new study. Errors: a space that the search cannot handle, e.g. grid search without a step.
  static Result<Study> create(StudySpec spec, std::uint64_t seed);
  /// The study after `events`. Errors: an event that contradicts the state before it, or a decision that replays
  /// differently, by its number and kind.
  static Result<Study> replay(StudySpec spec, std::uint64_t seed, const std::vector<Event>& events);

  Study(Study&&) noexcept;
  Study& operator=(Study&&) noexcept;
  ~Study();

  [[nodiscard]] const StudySpec& spec() const noexcept;
  [[nodiscard]] std::uint64_t seed() const noexcept;
  /// Seed of one trial's weights, shuffles and dropout.
  [[nodiscard]] std::uint64_t trial_seed(TrialId trial) const noexcept;

  /// After replay: every trial that was running is waiting to go on from its last durable report.
  /// `next` hands such trials out first, then promotions, then new suggestions.
  /// nullopt: nothing can start now; `done()` tells whether anything may ever start again.
  /// The caller keeps to `max_parallel` and to its slots.
  Result<std::optional<Assignment>> next();
  /// The assigned trial really started on `worker`. A waiting trial that `next` did not hand out yet, such as one in
  /// `ReportAnswer::resumed`, may be started too; `next` then leaves it out.
  Result<> started(TrialId trial, std::string worker);

  struct ReportAnswer {
    Decision decision = Decision::proceed;
    std::vector<TrialId> resumed;
    bool repeated = false;  ///< this step was reported before: nothing changed, the first decision stands
    std::string error;      ///< not empty: an objective was missing, so the trial failed; the decision is `stop`
  };
  /// step counts epochs from 1; a report at step = epochs completes the trial (`stop`).
  /// Errors: not_found, no such trial; invalid_argument, a step out of range, or one before the last that was left
  /// out; failed_precondition, the trial is paused or has ended.
  Result<ReportAnswer> report(TrialId trial, int step, Values values, double seconds, double energy_joules = 0,
                              std::string pipeline_state = {});
  Result<> staged(TrialId trial, std::vector<StageRecord> records);
  Result<> tuned(TrialTuned found);
  /// The trial is complete, with `values` at its last step unless they are empty and it reported before. Without an
  /// objective's value it fails instead. A trial that completed or stopped stays as it is.
  Result<> finish(TrialId trial, Values values);
  Result<> fail(TrialId trial, std::string cause, std::string error);
  /// The trial's host or lease is gone through no fault of its own; it waits to go on from its last report.
  Result<> interrupted(TrialId trial);
  /// A point to try before any new suggestion. Errors: it lies outside the space; max_trials leaves no room.
  Result<> enqueue(Parameters params);
  Result<> test_measured(TrialId trial, Values values);
  /// Ends the study. state: finished (paused trials become stopped), or stopped | failed (they stay, and the study goes
  /// on after a replay). Only test_measured and progressed may follow.
  Result<> end(std::string state, double tuning_seconds);
  /// Seconds of all runs so far; they never decrease.
  Result<> progressed(double tuning_seconds);

  /// Facts made since the last call, in order; to be durable before anything is acted on.
  [[nodiscard]] std::vector<Event> take_events();

  [[nodiscard]] bool done() const noexcept;                        ///< nothing runs and nothing may start any more
  [[nodiscard]] bool exhausted() const noexcept;                   ///< a finite space is used up
  [[nodiscard]] const std::deque<Trial>& trials() const noexcept;  ///< by id
  [[nodiscard]] const Trial* find(TrialId trial) const noexcept;
  [[nodiscard]] std::optional<BestTrial> best() const;
  /// Non-dominated trials, for several objectives.
  [[nodiscard]] std::vector<BestTrial> pareto() const;
  [[nodiscard]] double tuning_seconds() const noexcept;  ///< as recorded so far
  [[nodiscard]] std::string state() const;               ///< running | finished | stopped | failed

 private:
  struct Implementation;
  explicit Study(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

/// The best trial's, all trials', and the probes' totals, as CLI.md's `tune` document names them.
struct StudyTotals {
  int completed = 0, stopped = 0, failed = 0;
  double best_training_seconds = 0, total_training_seconds = 0, energy_joules = 0;
  std::int64_t probe_steps = 0, total_steps = 0, hits = 0, misses = 0;
  double excess_seconds = 0;
};
[[nodiscard]] StudyTotals totals(const Study& study);

}  // namespace tandem::tuner
