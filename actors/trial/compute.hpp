/// Compute: what steps a trial's model. Orders go in, results come back to the trial actor as messages,
/// one for each order: SessionOpened, WindowOutcome, EpochFinished, TestMetrics.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/trial/training_session.hpp"
#include "runtime/actor/actor_ref.hpp"
#include "tuner/pipetune/stage_machine.hpp"

namespace tandem::actors {

struct OpenOrder {
  SessionSpec session;
  std::string checkpoint_file;  ///< to go on from; empty: from the beginning
  std::vector<int> cores;       ///< processors leased; empty: affinity is left alone
};

struct WindowOrder {
  tuner::Stage stage = tuner::Stage::exploit;
  tuner::Parameters system;  ///< empty: nothing is applied (framework defaults)
  std::int64_t steps = 0;
  std::int64_t warmup_steps = 0;
  double abort_step_seconds = 0;
};

/// At most one order is under way. Implementations: a thread over a TrainingSession; a script in virtual time.
class Compute {
 public:
  virtual ~Compute() = default;
  /// Where results go; before the first order.
  virtual void attach(runtime::ActorRef trial_actor) = 0;
  virtual void open(OpenOrder order) = 0;
  virtual void run_window(WindowOrder order) = 0;
  /// Evaluates on validation and, if `checkpoint_file` is named, saves there atomically and then removes
  /// `obsolete_file`.
  virtual void finish_epoch(std::string checkpoint_file, std::string obsolete_file) = 0;
  virtual void measure_test() = 0;
};

}  // namespace tandem::actors
