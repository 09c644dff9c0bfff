#include "actors/workloads/optimizer.hpp"

#include <cmath>
#include <string>

namespace tandem::actors {

namespace {

class Sgd final : public Optimizer {
 public:
  Sgd(const SgdSettings& settings, std::int64_t size) : settings_(settings) {
    if (settings.momentum != 0) velocity_.assign(static_cast<std::size_t>(size), 0.0F);
  }

  void update(std::span<float> parameters, std::span<const float> gradient) override {
    const auto rate = static_cast<float>(settings_.learning_rate);
    const auto momentum = static_cast<float>(settings_.momentum);
    const auto decay = static_cast<float>(settings_.weight_decay);
    ++updates_;
    if (velocity_.empty()) {
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        parameters[i] -= rate * (gradient[i] + decay * parameters[i]);
      }
      return;
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      velocity_[i] = momentum * velocity_[i] + (gradient[i] + decay * parameters[i]);
      parameters[i] -= rate * velocity_[i];
    }
  }

  std::vector<std::span<float>> state() override {
    if (velocity_.empty()) return {};
    return {velocity_};
  }

 private:
  SgdSettings settings_;
  std::vector<float> velocity_;
};

class Adam final : public Optimizer {
 public:
  Adam(const AdamSettings& settings, std::int64_t size)
      : settings_(settings), mean_(static_cast<std::size_t>(size)), square_(static_cast<std::size_t>(size)) {}

  void update(std::span<float> parameters, std::span<const float> gradient) override {
    ++updates_;
    const auto time = static_cast<double>(updates_);
    const auto step = static_cast<float>(settings_.learning_rate / (1 - std::pow(settings_.beta1, time)));
    const auto root = static_cast<float>(std::sqrt(1 - std::pow(settings_.beta2, time)));
    const auto beta1 = static_cast<float>(settings_.beta1);
    const auto beta2 = static_cast<float>(settings_.beta2);
    const auto rest1 = static_cast<float>(1 - settings_.beta1);
    const auto rest2 = static_cast<float>(1 - settings_.beta2);
    const auto decay = static_cast<float>(settings_.weight_decay);
    const auto epsilon = static_cast<float>(settings_.epsilon);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const float g = gradient[i] + decay * parameters[i];
      mean_[i] = beta1 * mean_[i] + rest1 * g;
      square_[i] = beta2 * square_[i] + rest2 * g * g;
      parameters[i] -= step * mean_[i] / (std::sqrt(square_[i]) / root + epsilon);
    }
  }

  std::vector<std::span<float>> state() override { return {mean_, square_}; }

 private:
  AdamSettings settings_;
  std::vector<float> mean_;
  std::vector<float> square_;
};

}  // namespace

std::unique_ptr<Optimizer> make_sgd(const SgdSettings& settings, std::int64_t size) {
  return std::make_unique<Sgd>(settings, size);
}

std::unique_ptr<Optimizer> make_adam(const AdamSettings& settings, std::int64_t size) {
  return std::make_unique<Adam>(settings, size);
}

double number_of(const tuner::Parameters& params, std::string_view name) {
  const tuner::Value& value = params.find(name)->second;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  return std::get<double>(value);
}

std::unique_ptr<Optimizer> make_optimizer(const tuner::Parameters& params, std::int64_t size) {
  const double learning_rate = number_of(params, "learning_rate");
  const double weight_decay = number_of(params, "weight_decay");
  if (std::get<std::string>(params.find("optimizer")->second) == "adam") {
    return make_adam({.learning_rate = learning_rate, .weight_decay = weight_decay}, size);
  }
  return make_sgd(
      {.learning_rate = learning_rate, .momentum = number_of(params, "momentum"), .weight_decay = weight_decay}, size);
}

}  // namespace tandem::actors
