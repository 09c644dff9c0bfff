/// TorchModel: a Model whose layers are ATen's kernels, called through a TorchTape. For .cpp files only.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <memory>

#include "actors/workloads/model.hpp"
#include "actors/workloads/models/torch_tape.hpp"

namespace tandem::actors {

/// Logits (samples × classes) of `images` (samples × 1 × height × width).
using TorchForward = std::function<at::Tensor(TorchTape& tape, const at::Tensor& images)>;

struct TorchModelParts {
  ParameterLayout layout;
  ImageShape input;
  ForwardCost cost;
  double dropout = 0;
  TorchForward forward;
};

[[nodiscard]] std::unique_ptr<Model> make_torch_model(TorchModelParts parts);

}  // namespace tandem::actors
