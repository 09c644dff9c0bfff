/// SnapshotMaker: what a watcher sees of a study between two reports.
#pragma once

#include <map>
#include <string>

#include "actors/study/local_cluster.hpp"
#include "schemas/trial.capnp.h"

namespace tandem::actors {

class SnapshotMaker {
 public:
  void progressed(schemas::TrialProgress::Reader progress);
  /// The trial runs no longer.
  void ended(tuner::TrialId trial) { live_.erase(trial); }

  [[nodiscard]] StudySnapshot make(const tuner::Study& study, int slots, double elapsed_seconds,
                                   std::string notice) const;

 private:
  struct Live {
    std::int64_t step = 0;
    std::int64_t total_steps = 0;
    std::string stage;
    double step_seconds = 0;
    tuner::Parameters system;
  };
  [[nodiscard]] TrialSnapshot describe(const tuner::Trial& trial, const tuner::StudySpec& spec) const;
  [[nodiscard]] static double seconds_left(const tuner::Study& study, int slots);

  std::map<tuner::TrialId, Live> live_;
};

}  // namespace tandem::actors
