/// GroundTruthActor: the one keeper of what probes have found, asked by every trial's pipeline.
#pragma once

#include <functional>
#include <string>

#include "runtime/actor/actor.hpp"
#include "tuner/pipetune/ground_truth.hpp"

namespace tandem::actors {

class GroundTruthActor final : public runtime::Actor {
 public:
  /// Persists the whole as JSON; an error is logged, and the next finding tries again.
  using Save = std::function<Result<>(const std::string& json)>;

  GroundTruthActor(tuner::GroundTruth ground_truth, Save save);
  void on_start() override;

 private:
  void save();

  tuner::GroundTruth ground_truth_;
  Save save_;
};

}  // namespace tandem::actors
