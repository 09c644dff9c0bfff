/// Optimizer: updates a flat array of parameters in one pass. The formulas are PyTorch's.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/result.hpp"
#include "tuner/space/value.hpp"

namespace tandem::actors {

class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual void update(std::span<float> parameters, std::span<const float> gradient) = 0;

  /// The arrays it keeps from step to step, and the number of updates so far: for checkpoints.
  [[nodiscard]] virtual std::vector<std::span<float>> state() = 0;
  [[nodiscard]] std::int64_t updates() const noexcept { return updates_; }
  void set_updates(std::int64_t updates) noexcept { updates_ = updates; }

 protected:
  std::int64_t updates_ = 0;
};

/// g ← g + weight_decay·p;  v ← momentum·v + g;  p ← p − learning_rate·v. Without momentum there is no v.
struct SgdSettings {
  double learning_rate = 0.01;
  double momentum = 0;
  double weight_decay = 0;
};

/// g ← g + weight_decay·p;  m ← β₁m + (1−β₁)g;  v ← β₂v + (1−β₂)g²;
/// p ← p − learning_rate/(1−β₁ᵗ) · m / (√v/√(1−β₂ᵗ) + ε)   (Kingma and Ba 2015)
struct AdamSettings {
  double learning_rate = 0.001;
  double weight_decay = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

[[nodiscard]] std::unique_ptr<Optimizer> make_sgd(const SgdSettings& settings, std::int64_t size);
[[nodiscard]] std::unique_ptr<Optimizer> make_adam(const AdamSettings& settings, std::int64_t size);
/// From the hyperparameters optimizer, learning_rate, momentum and weight_decay, complete and checked.
[[nodiscard]] std::unique_ptr<Optimizer> make_optimizer(const tuner::Parameters& params, std::int64_t size);

/// A number among complete and checked parameters, whether written as an integer or not.
[[nodiscard]] double number_of(const tuner::Parameters& params, std::string_view name);

}  // namespace tandem::actors
