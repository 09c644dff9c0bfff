/// MLP: pixels → hidden → hidden → classes; ReLU and dropout after both hidden layers.
#include "actors/workloads/models/builtin.hpp"
#include "actors/workloads/models/torch_model.hpp"
#include "actors/workloads/optimizer.hpp"

namespace tandem::actors {

namespace {

at::Tensor forward(TorchTape& tape, const at::Tensor& images) {
  at::Tensor x = tape.flatten(images);
  x = tape.dropout(tape.relu(tape.linear(x, 0)));
  x = tape.dropout(tape.relu(tape.linear(x, 1)));
  return tape.linear(x, 2);
}

}  // namespace

Result<std::unique_ptr<Model>> make_mlp(const tuner::Parameters& params, const Dataset& dataset) {
  const auto hidden = static_cast<std::int64_t>(number_of(params, "hidden"));
  const auto pixels = static_cast<std::int64_t>(dataset.training.pixels_per_image());
  TorchModelParts parts;
  parts.input = {static_cast<int>(dataset.training.height), static_cast<int>(dataset.training.width)};
  parts.dropout = number_of(params, "dropout");
  parts.forward = &forward;
  std::int64_t inputs = pixels;
  int layer = 1;
  for (const std::int64_t units : {hidden, hidden, std::int64_t{dataset.classes}}) {
    const std::string name = "dense" + std::to_string(layer++);
    parts.layout.add(name + ".weight", {units, inputs}, inputs);
    parts.layout.add(name + ".bias", {units}, inputs);
    parts.cost.flops += 2.0 * static_cast<double>(inputs * units);
    parts.cost.activation_bytes += sizeof(float) * static_cast<double>(units);
    inputs = units;
  }
  return make_torch_model(std::move(parts));
}

}  // namespace tandem::actors
