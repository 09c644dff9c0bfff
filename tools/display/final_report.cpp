#include "tools/display/final_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "tools/display/words.hpp"

namespace tandem::tools {
namespace {

constexpr double kWorthTelling = 1.03;  ///< below it a gain is within what windows of steps scatter

std::optional<std::int64_t> integer(const tuner::Parameters& params, std::string_view name) {
  const auto found = params.find(name);
  if (found == params.end()) return std::nullopt;
  const auto* value = std::get_if<std::int64_t>(&found->second);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  const std::size_t middle = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[middle] : (numbers[middle - 1] + numbers[middle]) / 2;
}

/// Speed-ups of one batch size, by the configuration chosen.
using GroupGains = std::map<tuner::Parameters, std::vector<double>>;

SystemGain gain_of(std::optional<std::int64_t> batch, const GroupGains& by_system) {
  const auto often = std::max_element(by_system.begin(), by_system.end(), [](const auto& one, const auto& other) {
    return one.second.size() < other.second.size();
  });
  return {batch ? fmt::format("batch {}", *batch) : "all trials", median(often->second), often->first,
          static_cast<int>(often->second.size())};
}

/// "  test_accuracy        0.9722 ± 0.0087"
std::string value_line(const std::string& name, double value, const tuner::Values& all) {
  std::string line = fmt::format("  {:<22} {}", name, short_number(value));
  const auto error = all.find(name + "_stderr");
  if (error != all.end()) line += fmt::format(" ± {} (standard error)", short_number(error->second));
  return line + "\n";
}

std::string describe_gains(const tuner::Study& study) {
  const auto gains = system_gains(study);
  if (gains.empty()) {
    if (study.spec().system.mode != tuner::SystemMode::pipeline || study.trials().empty()) return {};
    return "\nWhat the system parameters won: not told, no probe ended in this study\n";
  }
  std::string text = "\nWhat the system parameters won over the defaults\n";
  for (const SystemGain& gain : gains) {
    if (gain.speedup < kWorthTelling) {
      text += fmt::format("  {}: the defaults were as fast as anything tried", gain.group);
    } else {
      text += fmt::format("  {}: {:.1f}× faster with {}", gain.group, gain.speedup, describe_system(gain.system));
    }
    text += fmt::format(" ({} {})\n", gain.trials, gain.trials == 1 ? "trial" : "trials");
  }
  return text;
}

std::string describe_probing(const tuner::StudyTotals& totals) {
  if (totals.hits + totals.misses == 0) return {};
  const double steps = std::max<double>(static_cast<double>(totals.total_steps), 1);
  const double seconds = totals.total_training_seconds > 0 ? totals.total_training_seconds : 1;
  return fmt::format(
      "  probing: {:.1f} % of the steps, {} beyond the tuned speed ({:.1f} % of training); "
      "{} of {} trials started from an earlier measurement\n",
      100 * static_cast<double>(totals.probe_steps) / steps, short_seconds(totals.excess_seconds),
      100 * totals.excess_seconds / seconds, totals.hits, totals.hits + totals.misses);
}

}  // namespace

std::vector<SystemGain> system_gains(const tuner::Study& study) {
  std::map<std::optional<std::int64_t>, GroupGains> groups;
  for (const auto& trial : study.trials()) {
    if (!trial.tuned || trial.tuned->default_step_seconds <= 0 || trial.tuned->step_seconds <= 0) continue;
    groups[integer(trial.params, "batch_size")][trial.tuned->system].push_back(trial.tuned->default_step_seconds /
                                                                               trial.tuned->step_seconds);
  }
  std::vector<SystemGain> gains;
  for (const auto& [batch, by_system] : groups) gains.push_back(gain_of(batch, by_system));
  return gains;
}

std::string describe_system(const tuner::Parameters& system) {
  std::vector<std::string> parts;
  const auto count = [&parts](std::optional<std::int64_t> number, const char* one, const char* many) {
    if (number) parts.push_back(fmt::format("{} {}", *number, *number == 1 ? one : many));
  };
  for (const auto& [name, value] : system) {
    const auto number = integer(system, name);
    if (name == "cores") {
      count(number, "core", "cores");
    } else if (name == "threads") {
      count(number, "thread", "threads");
    } else if (name == "replicas") {
      if (number != 1) count(number, "replica", "replicas");
    } else if (name == "micro_batch") {
      if (number != 0) parts.push_back(fmt::format("micro-batches of {}", number.value_or(0)));
    } else if (name != "allocator" || value != tuner::Value(std::string("default"))) {
      parts.push_back(short_parameters({{name, value}}));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string describe_best(const tuner::Study& study, const tuner::BestTrial& best) {
  std::string text =
      fmt::format("Best: trial {} after {} {}\n", best.trial, best.step, best.step == 1 ? "epoch" : "epochs");
  for (const auto& objective : study.spec().objectives) {
    const auto value = best.values.find(objective.name);
    if (value != best.values.end()) text += value_line(objective.name, value->second, best.values);
  }
  const tuner::Trial* trial = study.find(best.trial);
  if (trial == nullptr) return text;
  for (const auto& [name, value] : trial->test_values) {
    if (!name.ends_with("_stderr")) text += value_line(name, value, trial->test_values);
  }
  text += fmt::format("  {:<22} {}\n", "hyperparameters", short_parameters(trial->params));
  const tuner::Parameters& system = trial->tuned ? trial->tuned->system : trial->system;
  if (!system.empty()) text += fmt::format("  {:<22} {}\n", "system parameters", short_parameters(system));
  return text;
}

std::string final_report(const tuner::Study& study, std::string_view state) {
  const tuner::StudyTotals totals = tuner::totals(study);
  std::string text = fmt::format("Study {} {} after {} (seed {}): {} trials, {} completed, {} stopped, {} failed\n\n",
                                 study.spec().name, state, short_seconds(study.tuning_seconds()), study.seed(),
                                 study.trials().size(), totals.completed, totals.stopped, totals.failed);
  if (const auto best = study.best()) {
    text += describe_best(study, *best);
  } else {
    text += "No trial reported a finite value.\n";
  }
  text += describe_gains(study) + describe_probing(totals);
  if (state == "stopped") text += "\nStopped before its end. Go on with --resume.\n";
  return text;
}

}  // namespace tandem::tools
