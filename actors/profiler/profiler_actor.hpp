/// ProfilerActor: turns measured windows of training steps into profile vectors.
#pragma once

#include "runtime/actor/actor.hpp"
#include "schemas/trial.capnp.h"

namespace tandem::actors {

/// Answers a WindowSample with its Profile.
class ProfilerActor final : public runtime::Actor {
 public:
  void on_start() override;
};

}  // namespace tandem::actors
