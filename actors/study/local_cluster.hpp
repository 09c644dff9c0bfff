/// run_study_locally: head and worker inside this process, one study run to its end.
/// What `tandem tune` calls, and what its progress display is told.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "runtime/base/log.hpp"
#include "runtime/base/result.hpp"
#include "tuner/study/study.hpp"
#include "tuner/study/study_spec.hpp"

namespace tandem::actors {

struct TuneOptions {
  tuner::StudySpec spec;
  std::uint64_t seed = 0;  ///< of a new study; one that is resumed keeps its own
  bool resume = false;     ///< go on where an unfinished study stands; start it when there is none
  bool fresh = false;      ///< forget what the state directory holds of this study, then start
  std::string state_directory;
  std::string data_directory;      ///< searched first; then the shipped data and $TANDEM_DATA
  std::string trial_host_program;  ///< path of `tandem-trial-host`
  int cores = 0;                   ///< lent by the embedded worker; 0: min(affinity, cgroup quota)
  Logger log;                      ///< discards everything unless given
};

/// One trial as a watcher sees it, between two reports too.
struct TrialSnapshot {
  tuner::TrialId id = 0;
  tuner::TrialState state = tuner::TrialState::waiting;
  int epoch = 0;   ///< done
  int epochs = 0;  ///< of a complete trial
  /// Of the epoch in progress, from 0 to 1.
  double epoch_progress = 0;
  std::string stage;                     ///< "profile", "match", "probe", "exploit"; empty when not running
  std::vector<double> objective_values;  ///< first objective, one per report
  tuner::Parameters params;
  tuner::Parameters system;  ///< in force now
  double step_seconds = 0;   ///< of the last window; 0: none yet
  std::string error;         ///< of a failed trial
};

struct StudySnapshot {
  std::string study;
  std::string objective;  ///< name of the first objective
  bool maximize = true;
  double elapsed_seconds = 0;  ///< of this run and those it resumes
  int max_trials = 0;
  int waiting = 0, running = 0, paused = 0, completed = 0, stopped = 0, failed = 0;
  int slots = 0;                      ///< trials that may run at a time
  std::vector<TrialSnapshot> trials;  ///< by id
  std::optional<tuner::BestTrial> best;
  double eta_seconds = -1;  ///< until the study ends; negative: not known yet
  std::string notice;       ///< what the study does beside training, e.g. "measuring the test split"; may be empty
};

/// Told on every report and decision, and about twice a second in between. Called from one thread at a time,
/// not the one that called `run_study_locally`; must return quickly.
class StudyObserver {
 public:
  virtual ~StudyObserver() = default;
  virtual void on_snapshot(const StudySnapshot& snapshot) = 0;
};

struct TuneOutcome {
  tuner::Study study;  ///< as it ended: trials, best, test values
  std::string state;   ///< finished | stopped | failed
  tuner::StudyTotals totals;
  std::string energy_source;          ///< "measured" | "estimated"
  std::vector<double> start_seconds;  ///< per trial, as StudyEnd tells them
};

/// Runs the study to its end. A request to stop gives up the epochs under way, keeps every report and checkpoint, and
/// ends with state "stopped"; the study can be resumed.
/// Errors: failed_precondition, the study exists unfinished and neither resume nor fresh is set; already_exists, it is
/// finished already; infeasible, no worker could ever lend what a trial needs; anything the store or the trial host
/// meets before the first trial starts.
[[nodiscard]] Result<TuneOutcome> run_study_locally(TuneOptions options, StudyObserver* observer, std::stop_token stop);

}  // namespace tandem::actors
