#include "actors/workloads/workload_info.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "actors/workloads/limits.hpp"
#include "tuner/space/value_text.hpp"

namespace tandem::actors {

namespace {

using tuner::Value;

/// What a hyperparameter may be. `allowed` of its HyperparameterInfo says the same in words.
struct Rule {
  enum class Kind { number, integer, choice };
  std::string_view name;
  Kind kind;
  double low = 0;
  bool low_included = true;
  double high = 0;
  bool high_included = true;
  std::vector<std::string_view> choices;
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {"learning_rate", Rule::Kind::number, 0, false, 100, true, {}},
      {"batch_size", Rule::Kind::integer, 1, true, static_cast<double>(kBatchSize), true, {}},
      {"momentum", Rule::Kind::number, 0, true, 1, false, {}},
      {"weight_decay", Rule::Kind::number, 0, true, 1, true, {}},
      {"dropout", Rule::Kind::number, 0, true, 1, false, {}},
      {"hidden", Rule::Kind::integer, 1, true, static_cast<double>(kHiddenUnits), true, {}},
      {"optimizer", Rule::Kind::choice, 0, true, 0, true, {"sgd", "adam"}},
  };
  return all;
}

const Rule* find_rule(std::string_view name) {
  const auto found = std::find_if(rules().begin(), rules().end(), [&](const Rule& rule) { return rule.name == name; });
  return found == rules().end() ? nullptr : &*found;
}

std::string in_words(const Rule& rule) {
  if (rule.kind == Rule::Kind::choice) return fmt::format("one of {}", fmt::join(rule.choices, ", "));
  return fmt::format("{} in {}{}, {}{}", rule.kind == Rule::Kind::integer ? "an integer" : "a number",
                     rule.low_included ? '[' : '(', rule.low, rule.high, rule.high_included ? ']' : ')');
}

bool satisfies(const Rule& rule, const Value& value) {
  if (rule.kind == Rule::Kind::choice) {
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr && std::find(rule.choices.begin(), rule.choices.end(), *text) != rule.choices.end();
  }
  double number = 0;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    number = static_cast<double>(*integer);
  } else if (const auto* real = std::get_if<double>(&value); real != nullptr && rule.kind == Rule::Kind::number) {
    number = *real;
  } else {
    return false;
  }
  return std::isfinite(number) && (rule.low_included ? number >= rule.low : number > rule.low) &&
         (rule.high_included ? number <= rule.high : number < rule.high);
}

HyperparameterInfo hyperparameter(std::string name, Value default_value) {
  std::string allowed = in_words(*find_rule(name));
  return {std::move(name), std::move(default_value), std::move(allowed)};
}

/// Momentum belongs to sgd; adam takes no notice of it.
std::vector<HyperparameterInfo> hyperparameters(double learning_rate, std::int64_t hidden) {
  return {hyperparameter("learning_rate", learning_rate),
          hyperparameter("batch_size", std::int64_t{32}),
          hyperparameter("momentum", 0.9),
          hyperparameter("weight_decay", 0.0),
          hyperparameter("optimizer", std::string("sgd")),
          hyperparameter("dropout", 0.0),
          hyperparameter("hidden", hidden)};
}

WorkloadInfo classifier(std::string name, std::string summary, std::vector<HyperparameterInfo> hyperparameters) {
  return {std::move(name),
          std::move(summary),
          std::move(hyperparameters),
          {"digits", "mnist", "fashion-mnist"},
          {"accuracy", "loss", "training_loss"}};
}

}  // namespace

const std::vector<WorkloadInfo>& builtin_workloads() {
  static const std::vector<WorkloadInfo> workloads = {
      classifier("mlp", "two hidden layers with ReLU and dropout", hyperparameters(0.05, 128)),
      classifier("lenet5", "LeNet-5: two convolutions with tanh and pooling, three dense layers",
                 hyperparameters(0.02, 84)),
  };
  return workloads;
}

const WorkloadInfo* find_workload(std::string_view name) {
  for (const WorkloadInfo& workload : builtin_workloads()) {
    if (workload.name == name) return &workload;
  }
  return nullptr;
}

Result<> check_parameters(const WorkloadInfo& workload, const tuner::Parameters& params) {
  std::vector<std::string_view> known;
  for (const HyperparameterInfo& each : workload.hyperparameters) known.push_back(each.name);
  for (const auto& [name, value] : params) {
    const auto found = std::find_if(workload.hyperparameters.begin(), workload.hyperparameters.end(),
                                    [&](const HyperparameterInfo& each) { return each.name == name; });
    if (found == workload.hyperparameters.end()) {
      const std::string_view nearest = tuner::nearest_name(name, known);
      return fail(ErrorCode::invalid_argument, "workload '{}' has no hyperparameter '{}'{}; it has: {}", workload.name,
                  name, nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest), fmt::join(known, ", "));
    }
    const Rule* rule = find_rule(name);
    if (rule != nullptr && !satisfies(*rule, value)) {
      return fail(ErrorCode::invalid_argument, "workload '{}': {} = {}; allowed: {}", workload.name, name,
                  tuner::to_text(value), found->allowed);
    }
  }
  return {};
}

tuner::Parameters with_defaults(const WorkloadInfo& workload, const tuner::Parameters& params) {
  tuner::Parameters complete = params;
  for (const HyperparameterInfo& each : workload.hyperparameters) {
    Value& value = complete.emplace(each.name, each.default_value).first->second;
    // Written 1 or 1.0, a number is the same number.
    const auto* integer = std::get_if<std::int64_t>(&value);
    if (integer != nullptr && std::holds_alternative<double>(each.default_value)) value = static_cast<double>(*integer);
  }
  return complete;
}

}  // namespace tandem::actors
