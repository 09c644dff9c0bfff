/// Study::Implementation: the state of a study and the steps that change it. Private to tuner/study.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "tuner/schedule/trial_scheduler.hpp"
#include "tuner/search/search_algorithm.hpp"
#include "tuner/study/ranking.hpp"
#include "tuner/study/study.hpp"

namespace tandem::tuner {

struct Study::Implementation {
  Implementation(StudySpec study_spec, std::uint64_t study_seed);

  /// Builds space, search and scheduler from the spec.
  Result<> prepare();

  // Commands, as Study's. Each appends to `events` what it changed.
  Result<std::optional<Assignment>> next();
  Result<> started(TrialId id, std::string worker);
  Result<ReportAnswer> report(TrialReported told);
  Result<> staged(TrialId id, std::vector<StageRecord> records);
  Result<> tuned(TrialTuned found);
  Result<> finish(TrialId id, Values values);
  Result<> fail_trial(TrialId id, std::string cause, std::string error);
  Result<> interrupted(TrialId id);
  Result<> enqueue(Parameters params);
  Result<> test_measured(TrialId id, Values values);
  Result<> end(std::string end_state, double seconds);
  Result<> progressed(double seconds);

  // Replay: the same steps, led by a recorded event and compared with it.
  Result<> replay(const Event& event);
  Result<> replay_suggested(const TrialSuggested& event);
  Result<> replay_started(const TrialStarted& event);
  Result<> replay_reported(const TrialReported& event);
  Result<> replay_ended(const StudyEnded& event);
  /// Whatever ran when the events end waits to go on.
  void requeue_running();

  // Parts of the commands.
  [[nodiscard]] Result<Trial*> known(TrialId id);
  [[nodiscard]] Result<> refuse_when_ended() const;
  [[nodiscard]] Result<> check_report(const Trial& trial, const TrialReported& told) const;
  [[nodiscard]] std::string missing_objective(const Values& values) const;
  [[nodiscard]] std::optional<Assignment> next_waiting(std::deque<TrialId>& queue);
  [[nodiscard]] std::optional<Parameters> next_point();
  [[nodiscard]] Parameters complete_enqueued(const Parameters& params, TrialId id) const;
  [[nodiscard]] Assignment assignment_of(const Trial& trial) const;
  Trial& add_trial(const Parameters& params, const Parameters& system);
  void record(Trial& trial, Report report);
  void leave(Trial& trial, TrialState ended);
  void resume(TrialId id);
  /// A slot has become free: promotes at most one paused trial.
  std::vector<TrialId> settle();
  [[nodiscard]] bool exhausted() const;
  [[nodiscard]] bool can_suggest() const;

  StudySpec spec;
  std::uint64_t seed;
  Space searched;  ///< spec.space, and the system parameters in mode = search
  std::unique_ptr<SearchAlgorithm> search;
  std::unique_ptr<TrialScheduler> scheduler;
  Ranking ranking;

  std::deque<Trial> trials;
  std::deque<bool> queued;  ///< by trial: it waits in one of the next two
  std::deque<TrialId> interrupted_trials;
  std::deque<TrialId> promoted_trials;
  std::deque<Parameters> enqueued;
  std::vector<Event> events;  ///< not taken yet
  std::int64_t open = 0;      ///< trials neither paused nor ended
  std::int64_t completed = 0;
  bool search_ended = false;  ///< the search found nothing more
  bool closed = false;        ///< nothing may start any more
  std::string state = "running";
  double tuning_seconds = 0;
};

}  // namespace tandem::tuner
