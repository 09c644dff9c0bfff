/// TorchModel: a Model whose forward pass is written with ATen and whose gradient is autograd's. For .cpp files only.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "actors/workloads/model.hpp"

namespace tandem::actors {

/// Dropout during one forward pass; does nothing in evaluation.
class TorchDropout {
 public:
  TorchDropout() = default;
  TorchDropout(const DropoutStream& stream, double probability) : stream_(stream), probability_(probability) {}
  /// `activations` is samples × units. Call it in the same order in every pass.
  [[nodiscard]] at::Tensor operator()(const at::Tensor& activations);

 private:
  DropoutStream stream_;
  double probability_ = 0;
  std::uint64_t layer_ = 0;
};

/// Logits (samples × classes) of `images` (samples × 1 × height × width); `parameters` in the layout's order.
using TorchForward = std::function<at::Tensor(const std::vector<at::Tensor>& parameters, const at::Tensor& images,
                                              TorchDropout& dropout)>;

struct TorchModelParts {
  ParameterLayout layout;
  ImageShape input;
  ForwardCost cost;
  double dropout = 0;
  TorchForward forward;
};

[[nodiscard]] std::unique_ptr<Model> make_torch_model(TorchModelParts parts);

}  // namespace tandem::actors
