/// LeNet-5 (LeCun, Bottou, Bengio and Haffner 1998) with max pooling and a plain softmax at the end:
/// conv 5×5 (6), tanh, pool, conv 5×5 (16), tanh, pool, dense 120, tanh, dense `hidden` (84), tanh, dropout, classes.
/// Images are 28 by 28; smaller ones are enlarged and centred by the batch reader.
#include <string>

#include "actors/workloads/models/builtin.hpp"
#include "actors/workloads/models/torch_model.hpp"
#include "actors/workloads/optimizer.hpp"

namespace tandem::actors {

namespace {

constexpr int kSide = 28;
constexpr std::int64_t kMaps1 = 6;
constexpr std::int64_t kMaps2 = 16;
constexpr std::int64_t kKernel = 5;
constexpr std::int64_t kPadding1 = 2;  // keeps 28 by 28
constexpr std::int64_t kSide1 = 28;
constexpr std::int64_t kSide2 = 10;  // 14 − 5 + 1
constexpr std::int64_t kFlat = kMaps2 * 5 * 5;
constexpr std::int64_t kDense1 = 120;

at::Tensor forward(TorchTape& tape, const at::Tensor& images) {
  at::Tensor x = tape.max_pool(tape.tanh(tape.convolution(images, 0, kPadding1)));
  x = tape.max_pool(tape.tanh(tape.convolution(x, 1, 0)));
  x = tape.tanh(tape.linear(tape.flatten(x), 2));
  x = tape.dropout(tape.tanh(tape.linear(x, 3)));
  return tape.linear(x, 4);
}

struct Dense {
  const char* name;
  std::int64_t inputs;
  std::int64_t units;
};

}  // namespace

Result<std::unique_ptr<Model>> make_lenet5(const tuner::Parameters& params, const Dataset& dataset) {
  if (dataset.training.height > kSide || dataset.training.width > kSide) {
    return fail(ErrorCode::invalid_argument,
                "lenet5 takes images of at most {} by {} pixels, those of {} have {} by {}", kSide, kSide, dataset.name,
                dataset.training.height, dataset.training.width);
  }
  const auto hidden = static_cast<std::int64_t>(number_of(params, "hidden"));
  TorchModelParts parts;
  parts.input = {kSide, kSide};
  parts.dropout = number_of(params, "dropout");
  parts.forward = &forward;
  parts.layout.add("conv1.weight", {kMaps1, 1, kKernel, kKernel}, kKernel * kKernel);
  parts.layout.add("conv1.bias", {kMaps1}, kKernel * kKernel);
  parts.layout.add("conv2.weight", {kMaps2, kMaps1, kKernel, kKernel}, kMaps1 * kKernel * kKernel);
  parts.layout.add("conv2.bias", {kMaps2}, kMaps1 * kKernel * kKernel);
  const std::int64_t outputs1 = kMaps1 * kSide1 * kSide1;
  const std::int64_t outputs2 = kMaps2 * kSide2 * kSide2;
  double flops = 2.0 * kKernel * kKernel * static_cast<double>(outputs1 + kMaps1 * outputs2);
  double activations = 2.25 * static_cast<double>(outputs1 + outputs2);  // convolved, tanh, pooled (a quarter)
  for (const Dense& dense :
       {Dense{"dense1", kFlat, kDense1}, Dense{"dense2", kDense1, hidden}, Dense{"dense3", hidden, dataset.classes}}) {
    parts.layout.add(std::string(dense.name) + ".weight", {dense.units, dense.inputs}, dense.inputs);
    parts.layout.add(std::string(dense.name) + ".bias", {dense.units}, dense.inputs);
    flops += 2.0 * static_cast<double>(dense.inputs * dense.units);
    activations += 2.0 * static_cast<double>(dense.units);
  }
  parts.cost = {flops, sizeof(float) * activations};
  return make_torch_model(std::move(parts));
}

}  // namespace tandem::actors
