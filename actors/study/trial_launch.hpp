/// TrialLauncher: from an assignment to the StartTrial message: hyperparameters with the workload's defaults,
/// system parameters after the study's mode, checkpoints, addresses.
#pragma once

#include <cstdint>
#include <string>

#include "actors/workloads/workload_info.hpp"
#include "runtime/actor/message.hpp"
#include "schemas/trial.capnp.h"
#include "tuner/pipetune/catalog.hpp"
#include "tuner/study/study.hpp"

namespace tandem::actors {

struct LaunchSettings {
  std::string data_directory;
  std::string checkpoint_root;  ///< of this study
  int worker_cores = 1;         ///< of the largest worker
};

class TrialLauncher {
 public:
  TrialLauncher(const tuner::StudySpec& spec, LaunchSettings settings);

  /// Cores that one trial leases; in mode `search` what the assignment says.
  [[nodiscard]] int lease_cores(const tuner::Parameters& suggested_system) const;
  /// "lease" or "framework".
  [[nodiscard]] std::string environment() const;
  /// Directory of a trial's checkpoints.
  [[nodiscard]] std::string checkpoint_directory(tuner::TrialId trial) const;

  void write_start(schemas::StartTrial::Builder start, const tuner::Assignment& assignment, std::uint64_t trial_seed,
                   std::uint32_t attempt, schemas::TrialPlaced::Reader where) const;

 private:
  [[nodiscard]] std::vector<tuner::Parameters> candidates(const tuner::Assignment& assignment,
                                                          const tuner::Parameters& params) const;

  tuner::StudySpec spec_;
  LaunchSettings settings_;
};

}  // namespace tandem::actors
