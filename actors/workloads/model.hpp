/// Model: a network as the training session sees it: parameters in one flat array, and replicas that compute the
/// loss and the gradient of a few samples. Knows nothing of the library that computes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "actors/workloads/dataset.hpp"
#include "actors/workloads/dropout.hpp"
#include "actors/workloads/parameter_layout.hpp"
#include "runtime/base/result.hpp"
#include "tuner/space/value.hpp"

namespace tandem::actors {

/// Height and width the network wants its images in.
struct ImageShape {
  int height = 0;
  int width = 0;
};

/// Samples that are computed together.
struct Samples {
  std::int64_t count = 0;
  const float* pixels = nullptr;  ///< count × height × width, standardised
  const std::int64_t* labels = nullptr;
  DropoutStream dropout;  ///< of the first sample; unused in evaluation
};

struct EvaluationSums {
  std::int64_t correct = 0;
  double loss = 0;
};

/// Computes with the master's parameters, which it only reads. Used by one thread at a time; several replicas compute
/// side by side.
class Replica {
 public:
  virtual ~Replica() = default;
  /// Returns the sum of the samples' losses; overwrites `gradient` with the gradient of that sum times `scale`.
  /// Bitwise the same for the same samples, parameters and thread count.
  virtual Result<double> loss_and_gradient(const Samples& samples, float scale, std::span<float> gradient) = 0;
  /// Without dropout.
  virtual Result<EvaluationSums> evaluate(const Samples& samples) = 0;
};

/// Of the forward pass, per sample.
struct ForwardCost {
  double flops = 0;
  double activation_bytes = 0;
};

class Model {
 public:
  virtual ~Model() = default;
  [[nodiscard]] virtual const ParameterLayout& layout() const = 0;
  [[nodiscard]] virtual ImageShape input() const = 0;
  [[nodiscard]] virtual ForwardCost cost() const = 0;
  /// `parameters` outlives the replica; its address does not change.
  [[nodiscard]] virtual Result<std::unique_ptr<Replica>> make_replica(std::span<float> parameters) const = 0;
};

/// A model for a data set; `params` are complete and checked.
using MakeModel =
    std::function<Result<std::unique_ptr<Model>>(const tuner::Parameters& params, const Dataset& dataset)>;

}  // namespace tandem::actors
