#include "actors/workloads/models/torch_tape.hpp"

#include <array>
#include <utility>

namespace tandem::actors {

namespace {

// Of both sides of an image.
constexpr std::array<std::int64_t, 2> kNone = {0, 0};
constexpr std::array<std::int64_t, 2> kOne = {1, 1};
constexpr std::array<std::int64_t, 2> kTwo = {2, 2};

}  // namespace

at::Tensor TorchTape::linear(const at::Tensor& input, std::size_t layer) {
  const at::Tensor& weight = parameters_[2 * layer];
  if (training()) {
    record([this, input, layer, is_first = first()](const at::Tensor& gradient) {
      at::mm_out((*gradients_)[2 * layer], gradient.t(), input);
      at::sum_out((*gradients_)[2 * layer + 1], gradient, {0});
      return is_first ? at::Tensor() : gradient.mm(parameters_[2 * layer]);
    });
  }
  return at::linear(input, weight, parameters_[2 * layer + 1]);
}

at::Tensor TorchTape::convolution(const at::Tensor& input, std::size_t layer, std::int64_t padding) {
  const at::Tensor& weight = parameters_[2 * layer];
  const at::Tensor& bias = parameters_[2 * layer + 1];
  if (training()) {
    record([this, input, layer, padding, is_first = first()](const at::Tensor& gradient) {
      const std::array<std::int64_t, 2> paddings = {padding, padding};
      auto [to_input, to_weight, to_bias] =
          at::convolution_backward(gradient, input, parameters_[2 * layer], parameters_[2 * layer + 1].sizes(), kOne,
                                   paddings, kOne, false, kNone, 1, {!is_first, true, true});
      (*gradients_)[2 * layer].copy_(to_weight);
      (*gradients_)[2 * layer + 1].copy_(to_bias);
      return to_input;
    });
  }
  return at::conv2d(input, weight, bias, 1, padding);
}

at::Tensor TorchTape::max_pool(const at::Tensor& input) {
  auto [output, indices] = at::max_pool2d_with_indices(input, kTwo, kTwo, kNone, kOne, false);
  if (training()) {
    record([input, indices = std::move(indices)](const at::Tensor& gradient) {
      return at::max_pool2d_with_indices_backward(gradient, input, kTwo, kTwo, kNone, kOne, false, indices);
    });
  }
  return output;
}

at::Tensor TorchTape::tanh(const at::Tensor& input) {
  at::Tensor output = at::tanh(input);
  if (training()) record([output](const at::Tensor& gradient) { return at::tanh_backward(gradient, output); });
  return output;
}

at::Tensor TorchTape::relu(const at::Tensor& input) {
  at::Tensor output = at::relu(input);
  if (training()) record([output](const at::Tensor& gradient) { return at::threshold_backward(gradient, output, 0); });
  return output;
}

at::Tensor TorchTape::flatten(const at::Tensor& input) {
  // Images that come straight in need no way back; `first` must stay true for the layer that follows.
  if (training() && !first()) {
    record([shape = input.sizes().vec()](const at::Tensor& gradient) { return gradient.reshape(shape); });
  }
  return input.flatten(1);
}

at::Tensor TorchTape::dropout(const at::Tensor& input) {
  const std::uint64_t place = dropouts_++;
  if (!training() || dropout_ <= 0) return input;
  at::Tensor mask = at::empty(input.sizes(), at::kFloat);
  fill_dropout_mask(stream_, place, dropout_, input.size(1),
                    {mask.data_ptr<float>(), static_cast<std::size_t>(mask.numel())});
  record([mask](const at::Tensor& gradient) { return gradient.mul(mask); });
  return input.mul(mask);
}

void TorchTape::backward(at::Tensor gradient) {
  while (!steps_.empty()) {
    gradient = steps_.back()(gradient);
    steps_.pop_back();  // and with it the activations that it kept
  }
}

}  // namespace tandem::actors
