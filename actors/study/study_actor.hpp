/// StudyActor: runs one study. It owns the study's state machine and its store, hands trials to workers, makes every
/// report durable before it acts on the decision, and measures the best trial on the test split at the end.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "actors/study/checkpoint_keeper.hpp"
#include "actors/study/local_cluster.hpp"
#include "actors/study/snapshot.hpp"
#include "actors/study/trial_launch.hpp"
#include "runtime/actor/actor.hpp"
#include "schemas/trial.capnp.h"
#include "tuner/store/store.hpp"
#include "tuner/study/study.hpp"

namespace tandem::actors {

/// How a study ended, or why it could not go on.
struct StudyEnd {
  std::string state;  ///< finished | stopped | failed
  std::optional<Error> error;
  /// Of each trial: from the request for a host until its steps ran at their own speed.
  std::vector<double> start_seconds;
};

class StudyActor final : public runtime::Actor {
 public:
  struct Parts {
    tuner::Study study;
    std::unique_ptr<tuner::Store> store;  ///< claimed for this study
    FileSystem& files;
    LaunchSettings launch;
    runtime::ActorRef worker;
    runtime::ActorRef ground_truth;
    StudyObserver* observer = nullptr;                   ///< may be null; outlives the actor
    int slots = 1;                                       ///< trials at a time
    std::function<void(StudyEnd, tuner::Study)> on_end;  ///< once, on the actor's thread
  };

  explicit StudyActor(Parts parts);

  void on_start() override;

 private:
  struct Running {
    std::uint32_t attempt = 0;
    std::uint64_t lease = 0;
    runtime::ActorRef actor;
    double placing_seconds = 0;              ///< from the request for a host to the order to start
    std::optional<tuner::TrialTuned> tuned;  ///< last told
  };

  void fill();
  void place(tuner::Assignment assignment);
  void placed(const tuner::Assignment& assignment, MonotonicTime asked_at, schemas::TrialPlaced::Reader where);
  void on_report(schemas::TrialReport::Reader report, runtime::Incoming& in);
  void on_ended(schemas::TrialEnded::Reader ended);
  void on_host_lost(schemas::TrialHostLost::Reader lost);
  void on_progress(schemas::TrialProgress::Reader progress);
  void fail_trial(tuner::TrialId trial, std::string cause, std::string error);
  void finish_trial(tuner::TrialId trial);
  void release(std::uint64_t lease);
  void stop_study();

  void conclude();
  void measure_test(const tuner::BestTrial& best);
  void end_without_test(const Error& why);
  void end(std::string state);
  void abort(const Error& error);
  /// When store or checkpoints cannot be written. The study stays unfinished; the error says how it goes on.
  void abort_for_storage(const Error& error);

  /// Makes what happened durable. False: it could not, and the study has been aborted.
  bool persist();
  void group_commit();
  void tick();
  void show(std::string notice = {});
  [[nodiscard]] double elapsed_seconds() const;

  Parts parts_;
  TrialLauncher launcher_;
  CheckpointKeeper checkpoints_;
  SnapshotMaker snapshots_;
  std::map<tuner::TrialId, Running> running_;
  int placing_ = 0;
  std::map<tuner::TrialId, int> hosts_lost_;  ///< by no doing of the trial
  std::uint32_t attempts_ = 0;
  bool stopping_ = false;
  bool concluding_ = false;
  bool ended_ = false;
  bool commit_due_ = false;
  MonotonicTime began_{};
  MonotonicTime time_recorded_{};
  double earlier_seconds_ = 0;  ///< of the runs this one resumes
  StudyEnd end_;
};

}  // namespace tandem::actors
