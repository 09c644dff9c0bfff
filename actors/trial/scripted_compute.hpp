/// ScriptedCompute: a trial whose steps take as long, and whose epochs come out, as a script says; in virtual time.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "actors/trial/compute.hpp"
#include "runtime/actor/actor.hpp"
#include "runtime/actor/runtime.hpp"
#include "runtime/base/file_system.hpp"

namespace tandem::actors {

/// What trials do, as functions of what they are told.
struct TrialScript {
  std::int64_t steps_per_epoch = 1;
  std::function<double(const SessionSpec&, const tuner::Parameters& system, std::int64_t step)> step_seconds;
  std::function<Metrics(const SessionSpec&, int epoch)> evaluate;
  double open_seconds = 0;
  int fail_at_epoch = 0;                         ///< the step before the end of this epoch fails; 0: none does
  std::function<void(const OpenOrder&)> opened;  ///< for checks; may be empty
};

/// Runs closures after virtual delays on behalf of one ScriptedCompute.
class ScriptTimerActor final : public runtime::Actor {
 public:
  using Pending = std::deque<std::pair<Duration, std::function<void()>>>;
  explicit ScriptTimerActor(std::shared_ptr<Pending> pending) : pending_(std::move(pending)) {}
  void on_start() override;

 private:
  std::shared_ptr<Pending> pending_;
};

/// Its checkpoints are real files, on whatever file system the simulation has.
class ScriptedCompute final : public Compute {
 public:
  ScriptedCompute(runtime::Runtime& runtime, FileSystem& files, TrialScript script);

  void attach(runtime::ActorRef trial_actor) override { trial_actor_ = trial_actor; }
  void open(OpenOrder order) override;
  void run_window(WindowOrder order) override;
  void finish_epoch(std::string checkpoint_file, std::string obsolete_file) override;
  void measure_test() override;

 private:
  void later(double seconds, std::function<void()> then);

  runtime::Runtime& runtime_;
  FileSystem& files_;
  TrialScript script_;
  std::shared_ptr<ScriptTimerActor::Pending> pending_;
  runtime::ActorRef timer_;
  runtime::ActorRef trial_actor_;
  SessionSpec session_;
  std::int64_t step_ = 0;
};

}  // namespace tandem::actors
