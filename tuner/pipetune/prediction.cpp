#include "tuner/pipetune/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace tandem::tuner {

namespace {

constexpr double kShrinkage = 0.3;  // an effect seen once is believed by three quarters
constexpr int kSweeps = 8;          // of backfitting; the effects settle after a few

/// Additive in logarithms: mean + Σ effect(parameter, value), fitted by ridge backfitting.
class Effects {
 public:
  Effects(const std::vector<Parameters>& systems, const std::vector<double>& known_seconds) {
    for (std::size_t i = 0; i < systems.size(); ++i) {
      if (!(known_seconds[i] > 0)) continue;
      known_.emplace_back(&systems[i], std::log(known_seconds[i]));
      mean_ += known_.back().second;
    }
    if (known_.empty()) return;
    mean_ /= static_cast<double>(known_.size());
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (const auto& [name, unused] : systems.front()) fit(name);
    }
  }

  [[nodiscard]] bool empty() const noexcept { return known_.empty(); }

  [[nodiscard]] double log_seconds(const Parameters& system) const {
    double sum = mean_;
    for (const auto& item : system) sum += effect(item.first, item.second);
    return sum;
  }

 private:
  [[nodiscard]] double effect(const std::string& name, const Value& value) const {
    const auto found = effects_.find({name, value});
    return found == effects_.end() ? 0 : found->second;
  }

  void fit(const std::string& name) {
    std::map<Value, std::pair<double, double>> residuals;  // sum, count
    for (const auto& [system, log] : known_) {
      const auto value = system->find(name);
      if (value == system->end()) continue;
      auto& [sum, count] = residuals[value->second];
      sum += log - log_seconds(*system) + effect(name, value->second);
      ++count;
    }
    for (const auto& [value, residual] : residuals) {
      effects_[{name, value}] = residual.first / (residual.second + kShrinkage);
    }
  }

  std::vector<std::pair<const Parameters*, double>> known_;
  std::map<std::pair<std::string, Value>, double> effects_;
  double mean_ = 0;
};

}  // namespace

std::vector<double> predict_step_seconds(const std::vector<Parameters>& systems,
                                         const std::vector<double>& known_seconds, double fallback_seconds) {
  const Effects effects(systems, known_seconds);
  std::vector<double> predicted(known_seconds);
  for (std::size_t i = 0; i < systems.size(); ++i) {
    if (predicted[i] > 0) continue;
    predicted[i] = effects.empty() ? fallback_seconds : std::exp(effects.log_seconds(systems[i]));
  }
  return predicted;
}

}  // namespace tandem::tuner
