/// The built-in system parameters, each in a file of its own.
#pragma once

#include "tuner/pipetune/system_parameter.hpp"

namespace tandem::tuner {

[[nodiscard]] const SystemParameter& cores_parameter();
[[nodiscard]] const SystemParameter& threads_parameter();
[[nodiscard]] const SystemParameter& replicas_parameter();
[[nodiscard]] const SystemParameter& micro_batch_parameter();
[[nodiscard]] const SystemParameter& allocator_parameter();

}  // namespace tandem::tuner
