/// TrialActor: controls one trial in its host: opens the session, runs windows as its pipeline actor plans them,
/// reports every epoch and does as the study decides.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "actors/trial/compute.hpp"
#include "runtime/actor/actor.hpp"
#include "schemas/trial.capnp.h"
#include "tuner/study/event.hpp"

namespace tandem::actors {

class TrialActor final : public runtime::Actor {
 public:
  struct Parts {
    Compute& compute;            ///< outlives the actor
    runtime::ActorRef pipeline;  ///< PipelineStageActor of this host
    std::string host_class;      ///< key of the evidence gathered here
  };

  explicit TrialActor(Parts parts);

  void on_start() override;

 private:
  /// What StartTrial said, kept as plain values.
  struct Order {
    std::int64_t trial = 0;
    std::uint32_t attempt = 0;
    SessionSpec session;
    int from_epoch = 0;
    std::string checkpoint_directory;
    std::vector<int> cores;
    bool pipeline = false;
    bool framework_defaults = false;
    bool minimize_energy = false;
    double probe_budget = 0;
    std::vector<tuner::Parameters> candidates;
    tuner::Parameters reference;
    std::string pipeline_state;
    runtime::ActorRef study;
    runtime::ActorRef ground_truth;
  };
  [[nodiscard]] static Order read_order(schemas::StartTrial::Reader start);
  void open_session();

  void on_opened(schemas::SessionOpened::Reader opened);
  void begin_pipeline();
  void on_plan(schemas::PipelineNext::Reader next);
  void run_window();
  void on_window(schemas::WindowOutcome::Reader outcome);
  void tell_pipeline(schemas::WindowOutcome::Reader outcome);
  void continue_epoch();
  void on_epoch(schemas::EpochFinished::Reader epoch);
  void report(const tuner::Values& values);
  void decided(const std::string& decision);
  void tell_progress(const tuner::Parameters& system, double step_seconds);
  void end(const std::optional<Error>& failure, bool checkpoint_failed = false);

  Parts parts_;
  std::optional<Order> order_;
  std::optional<runtime::Responder> test_answer_;  ///< set: this host only measures the test split

  std::int64_t steps_per_epoch_ = 0;
  std::int64_t step_ = 0;  ///< since the beginning of training
  ModelFeatures features_;
  WindowOrder plan_;  ///< what to run next
  std::string pipeline_state_;
  std::vector<tuner::StageRecord> stages_;
  std::optional<tuner::TrialTuned> tuned_;
  MonotonicTime started_at_{};
  MonotonicTime progress_told_at_{};
  std::optional<tuner::Stage> told_stage_;
  double start_seconds_ = 0;
  double epoch_seconds_ = 0;
  double epoch_joules_ = 0;
};

}  // namespace tandem::actors
