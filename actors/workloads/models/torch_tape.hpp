/// TorchTape: one pass through a network of layers, forward and then backward, with ATen's kernels. It takes autograd's
/// place because LibTorch 2 refuses to run autograd in a process forked from one that has run it, and every trial host
/// is forked from a warm template. For .cpp files only.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "actors/workloads/dropout.hpp"

namespace tandem::actors {

/// Layers are called in the network's order, each with the output of the one before. `layer` counts the layers that
/// have parameters: its weight is parameter 2·layer, its bias the next.
class TorchTape {
 public:
  /// For evaluation: nothing is kept, nothing is dropped.
  explicit TorchTape(const std::vector<at::Tensor>& parameters) : parameters_(parameters) {}
  /// For training: `backward` writes to `gradients`, tensors of the parameters' shapes.
  TorchTape(const std::vector<at::Tensor>& parameters, std::vector<at::Tensor>& gradients, const DropoutStream& stream,
            double dropout)
      : parameters_(parameters), gradients_(&gradients), stream_(stream), dropout_(dropout) {}

  at::Tensor linear(const at::Tensor& input, std::size_t layer);
  at::Tensor convolution(const at::Tensor& input, std::size_t layer, std::int64_t padding);
  /// 2 by 2.
  at::Tensor max_pool(const at::Tensor& input);
  at::Tensor tanh(const at::Tensor& input);
  at::Tensor relu(const at::Tensor& input);
  at::Tensor flatten(const at::Tensor& input);
  at::Tensor dropout(const at::Tensor& input);

  /// From the gradient of the last output to those of all parameters; once.
  void backward(at::Tensor gradient);

 private:
  /// The gradient of a layer's input from that of its output.
  using Backward = std::function<at::Tensor(const at::Tensor& gradient)>;

  [[nodiscard]] bool training() const noexcept { return gradients_ != nullptr; }
  /// The network's own input has no use for a gradient.
  [[nodiscard]] bool first() const noexcept { return steps_.empty(); }
  void record(Backward step) { steps_.push_back(std::move(step)); }

  const std::vector<at::Tensor>& parameters_;
  std::vector<at::Tensor>* gradients_ = nullptr;
  DropoutStream stream_;
  double dropout_ = 0;
  std::uint64_t dropouts_ = 0;  ///< so far in this pass: tells the masks apart
  std::vector<Backward> steps_;
};

}  // namespace tandem::actors
