/// Event: one durable fact of a study. A study is the fold of its events; replaying them rebuilds it exactly.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tuner/pipetune/stage_machine.hpp"
#include "tuner/schedule/decision.hpp"
#include "tuner/space/value.hpp"

namespace tandem::tuner {

/// Reported values, e.g. {"accuracy": 0.97, "loss": 0.1}; non-finite values are allowed.
using Values = std::map<std::string, double, std::less<>>;

struct TrialSuggested {
  TrialId trial = 0;
  Parameters params;
  Parameters system;  ///< mode = search only: the system parameters suggested with it
};
struct TrialEnqueued {
  Parameters params;
};
/// The trial was given a lease and begins, or goes on, after `from_step` epochs.
struct TrialStarted {
  TrialId trial = 0;
  int from_step = 0;
  std::string worker;
};
/// One report with the decision taken on it; replay checks that it would decide the same.
struct TrialReported {
  TrialId trial = 0;
  int step = 0;  ///< epochs done, from 1
  Values values;
  double seconds = 0;  ///< training seconds of this epoch, probing included
  double energy_joules = 0;
  Decision decision = Decision::proceed;
  std::vector<TrialId> resumed;  ///< trials promoted by it
  std::string pipeline_state;    ///< StageMachine::save(), to go on exactly
};
struct TrialStaged {
  TrialId trial = 0;
  std::vector<StageRecord> records;
};
/// What the pipeline of one trial found and cost, told once when it ends (or the trial does).
struct TrialTuned {
  TrialId trial = 0;
  Parameters system;                ///< chosen
  double step_seconds = 0;          ///< under it
  double default_step_seconds = 0;  ///< under the defaults, when measured; else 0
  std::int64_t probe_steps = 0;
  std::int64_t total_steps = 0;
  double excess_seconds = 0;
  bool hit = false;  ///< from the ground truth
};
struct TrialFinished {
  TrialId trial = 0;
  Values values;
};  ///< completed all its epochs
struct TrialFailed {
  TrialId trial = 0;
  std::string cause;  ///< "failed", "killed", "out_of_memory", "node_lost", "lease_lost"
  std::string error;
};
/// Test metrics of the best trial, measured once at the end.
struct TestMeasured {
  TrialId trial = 0;
  Values values;
};
struct StudyEnded {
  std::string state;
  double tuning_seconds = 0;
};  ///< finished | stopped | failed
/// Wall seconds spent on the study so far, by the runs before this one too; so that they survive a kill.
struct StudyProgressed {
  double tuning_seconds = 0;
};

using Event = std::variant<TrialSuggested, TrialEnqueued, TrialStarted, TrialReported, TrialStaged, TrialTuned,
                           TrialFinished, TrialFailed, TestMeasured, StudyEnded, StudyProgressed>;

/// "suggested", "enqueued", "started", "reported", "staged", "tuned", "finished", "failed", "test_measured", "ended",
/// "progressed".
[[nodiscard]] std::string_view kind_of(const Event& event) noexcept;
/// JSON, one object with a "kind"; doubles survive exactly, non-finite ones as "nan", "inf", "-inf".
[[nodiscard]] std::string encode_event(const Event& event);
[[nodiscard]] Result<Event> decode_event(std::string_view text);

}  // namespace tandem::tuner
