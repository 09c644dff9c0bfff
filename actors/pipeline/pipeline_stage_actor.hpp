/// PipelineStageActor: splices probes of system parameters into a running trial. It drives the trial's StageMachine,
/// has windows profiled and the ground truth asked, and tells the trial actor what to run next.
#pragma once

#include <optional>
#include <string>

#include "runtime/actor/actor.hpp"
#include "schemas/trial.capnp.h"
#include "tuner/pipetune/stage_machine.hpp"

namespace tandem::actors {

/// Answers PipelineBegin and WindowOutcome with PipelineNext.
class PipelineStageActor final : public runtime::Actor {
 public:
  explicit PipelineStageActor(runtime::ActorRef profiler);
  void on_start() override;

 private:
  void begin(schemas::PipelineBegin::Reader begin, runtime::Incoming& in);
  void window_done(schemas::WindowOutcome::Reader outcome, runtime::Incoming& in);
  void match(schemas::WindowSample::Reader sample);
  void ask_ground_truth();
  void share_findings();
  void answer_next();
  void write_tuned_into(schemas::PipelineNext::Builder next) const;
  [[nodiscard]] std::string save() const;
  /// False: nothing usable was saved.
  bool restore(const std::string& saved);

  runtime::ActorRef profiler_;
  runtime::ActorRef ground_truth_;
  std::optional<tuner::StageMachine> machine_;
  tuner::StageSettings settings_;
  tuner::GroundTruthKey key_;
  tuner::ProfileVector profile_;
  std::int64_t hit_entry_ = -1;  ///< advice of the ground truth that is being followed
  bool contradicted_ = false;    ///< and was found wrong, which was told
  runtime::Responder answer_;
};

}  // namespace tandem::actors
