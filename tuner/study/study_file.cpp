#include <algorithm>

#include "tuner/limits.hpp"
#include "tuner/schedule/trial_scheduler.hpp"
#include "tuner/search/search_algorithm.hpp"
#include "tuner/space/value_text.hpp"
#include "tuner/study/space_reader.hpp"
#include "tuner/study/study_spec.hpp"
#include "tuner/study/toml_document.hpp"

namespace tandem::tuner {

namespace {

/// Names that study files may come to use, but that this version does not have.
const std::vector<std::string_view> kLaterSearches{"auto", "sobol", "tpe", "gp", "cmaes", "nsga2", "pbt", "bohb"};
const std::vector<std::string_view> kLaterSchedules{"hyperband", "median",   "percentile",
                                                    "pbt",       "patience", "threshold"};

class StudyReader {
 public:
  StudyReader(const TomlDocument& document, StudyUse use) : document_(document), use_(use) {}

  Result<StudySpec> read() {
    check_tables();
    read_study();
    read_trial();
    spec_.space = read_space(document_, error_);
    read_search();
    read_schedule();
    read_system();
    if (error_) return tl::unexpected<Error>(*error_);
    spec_.source = document_.source();
    return std::move(spec_);
  }

 private:
  void check_tables() {
    static const std::vector<std::string_view> kTables{"study", "trial", "space", "search", "schedule", "system"};
    Section root(document_, {}, error_);
    for (const auto& [key, node] : document_.root()) {
      if (std::find(kTables.begin(), kTables.end(), key.str()) != kTables.end()) {
        if (!node.is_table()) root.refuse(key.str(), "must be a table");
        continue;
      }
      root.refuse(key.str(), fmt::format("unknown {}; {}", node.is_table() ? "table" : "key",
                                         options(key.str(), kTables, "allowed tables")));
    }
    require_table("study", true);
    require_table("trial", use_ == StudyUse::tune);
    require_table("space", use_ != StudyUse::simulate);
  }

  void require_table(std::string_view name, bool needed) {
    if (needed && document_.root().get(name) == nullptr) {
      Section(document_, {std::string(name)}, error_).refuse_table("this table is missing");
    }
  }

  void read_study() {
    Section study(document_, {"study"}, error_);
    study.allow({"name", "objectives", "max_trials", "max_parallel", "seed"});
    study.require("name", "\"lenet5-mnist\"");
    study.require("objectives", "[\"accuracy:max\"]");
    study.read("name", spec_.name);
    if (study.find("name") != nullptr && !is_name(spec_.name)) {
      study.refuse("name",
                   fmt::format("allowed: letters, digits, '.', '_', '-', not beginning with '.' or '-', at most {}",
                               limits::kMaxNameLength));
    }
    read_objectives(study);
    study.read("max_trials", spec_.max_trials, 1, limits::kMaxTrials);
    study.read("max_parallel", spec_.max_parallel, 0, limits::kMaxParallel);
    if (const auto* node = study.find("seed")) {
      const auto* seed = node->as_integer();
      if (seed == nullptr || seed->get() < 0) return study.refuse("seed", "must be an integer of at least 0");
      spec_.seed = static_cast<std::uint64_t>(seed->get());
    }
  }

  void read_objectives(Section& study) {
    std::vector<std::string> texts;
    study.read("objectives", texts);
    if (texts.size() > limits::kMaxObjectives) {
      return study.refuse("objectives", fmt::format("at most {} are allowed", limits::kMaxObjectives));
    }
    for (const auto& text : texts) {
      const auto colon = text.rfind(':');
      const std::string name = text.substr(0, colon);
      const std::string direction = colon == std::string::npos ? "" : text.substr(colon + 1);
      if (direction != "max" && direction != "min") {
        return study.refuse("objectives",
                            fmt::format("\"{}\" names no direction; allowed: \"NAME:max\" or \"NAME:min\"", text));
      }
      if (!is_name(name)) {
        return study.refuse("objectives",
                            fmt::format("\"{}\" is not a name; allowed: letters, digits, '.', '_', '-'", name));
      }
      const bool repeated = std::any_of(spec_.objectives.begin(), spec_.objectives.end(),
                                        [&](const Objective& objective) { return objective.name == name; });
      if (repeated) return study.refuse("objectives", fmt::format("\"{}\" is named twice", name));
      spec_.objectives.push_back({name, direction == "max"});
    }
  }

  void read_trial() {
    Section trial(document_, {"trial"}, error_);
    if (!trial.present()) {
      spec_.trial.epochs = 1;
      return;
    }
    trial.allow({"workload", "dataset", "command", "epochs", "memory"});
    trial.read("workload", spec_.trial.workload);
    trial.read("dataset", spec_.trial.dataset);
    trial.read("command", spec_.trial.command);
    trial.read("epochs", spec_.trial.epochs, 1, limits::kMaxEpochs);
    trial.read_bytes("memory", spec_.trial.memory_bytes, limits::kMinTrialMemoryBytes);
    if (trial.find("command") != nullptr) check_command(trial);
    if (use_ != StudyUse::tune || trial.find("command") != nullptr) return;
    trial.require("workload", "\"lenet5\"");
    trial.require("dataset", "\"mnist\"");
  }

  void check_command(Section& trial) {
    if (trial.find("workload") != nullptr || trial.find("dataset") != nullptr) {
      return trial.refuse("command", "does not go with workload and dataset; name the one or the other");
    }
    if (spec_.trial.command.size() > limits::kMaxCommandWords) {
      return trial.refuse("command", fmt::format("at most {} words are allowed", limits::kMaxCommandWords));
    }
    if (use_ == StudyUse::tune) {
      trial.refuse("command", "command trials come with a later version; allowed: workload and dataset");
    }
  }

  void read_search() {
    Section search(document_, {"search"}, error_);
    search.allow({"algorithm", "plugin"});
    if (search.find("plugin") != nullptr) {
      search.refuse("plugin", fmt::format("plugins come with a later version; available: algorithm = {}",
                                          fmt::join(search_algorithm_names(), ", ")));
    }
    read_algorithm(search, spec_.search.algorithm, search_algorithm_names(), kLaterSearches);
    const auto* continuous = spec_.space.continuous_parameter();
    if (spec_.search.algorithm == "grid" && continuous != nullptr) {
      search.refuse("algorithm", fmt::format("a grid needs a step or a choice for every parameter, but {} is {}",
                                             continuous->name, describe_domain(continuous->domain)));
    }
  }

  void read_schedule() {
    Section schedule(document_, {"schedule"}, error_);
    schedule.allow({"algorithm", "reduction_factor", "min_epochs", "variant"});
    read_algorithm(schedule, spec_.schedule.algorithm, trial_scheduler_names(), kLaterSchedules);
    schedule.read("reduction_factor", spec_.schedule.reduction_factor, 2, limits::kMaxReductionFactor);
    schedule.read("min_epochs", spec_.schedule.min_epochs, 1, limits::kMaxEpochs);
    std::size_t variant = 0;
    schedule.read_choice("variant", variant, {"stopping", "promotion"});
    spec_.schedule.promotion = variant == 1;
    if (spec_.schedule.min_epochs > spec_.trial.epochs) {
      schedule.refuse("min_epochs", fmt::format("must be at most [trial] epochs = {}", spec_.trial.epochs));
    }
  }

  static void read_algorithm(Section& section, std::string& out, const std::vector<std::string_view>& available,
                             const std::vector<std::string_view>& later) {
    section.read("algorithm", out);
    if (section.find("algorithm") == nullptr) return;
    if (std::find(available.begin(), available.end(), out) != available.end()) return;
    if (std::find(later.begin(), later.end(), out) != later.end()) {
      return section.refuse("algorithm",
                            fmt::format("comes with a later version; available: {}", fmt::join(available, ", ")));
    }
    section.refuse("algorithm", "not known; " + options(out, available, "available"));
  }

  void read_system() {
    Section system(document_, {"system"}, error_);
    const auto& names = system_parameter_names();
    std::vector<std::string_view> known{"mode", "defaults", "objective", "probe_budget"};
    known.insert(known.end(), names.begin(), names.end());
    system.allow(known);
    auto mode = static_cast<std::size_t>(spec_.system.mode);
    system.read_choice("mode", mode, {"fixed", "search", "pipeline"});
    spec_.system.mode = static_cast<SystemMode>(mode);
    std::size_t defaults = 0;
    system.read_choice("defaults", defaults, {"lease", "framework"});
    spec_.system.defaults = static_cast<SystemDefaults>(defaults);
    if (spec_.system.defaults == SystemDefaults::framework && spec_.system.mode == SystemMode::pipeline) {
      system.refuse("defaults",
                    "framework leaves the framework untouched, for benchmarks; with it mode must be \"fixed\" "
                    "or \"search\"");
    }
    std::size_t objective = 0;
    system.read_choice("objective", objective, {"time", "energy"});
    spec_.system.objective = static_cast<SystemObjective>(objective);
    system.read("probe_budget", spec_.system.probe_budget, 0, 1);
    for (const auto name : names) {
      if (system.find(name) != nullptr) read_system_values(system, name);
    }
  }

  void read_system_values(Section& system, std::string_view name) {
    auto& values = spec_.system.values[std::string(name)];
    system.read_scalars(name, values, limits::kMaxSystemValues);
    if (system.failed()) return;
    if (const auto checked = check_domain(ChoiceDomain{values}); !checked)
      system.refuse(name, checked.error().message());
  }

  const TomlDocument& document_;
  StudyUse use_;
  std::optional<Error> error_;
  StudySpec spec_;
};

}  // namespace

Result<StudySpec> parse_study(std::string_view toml_text, std::string_view file_name,
                              const std::vector<std::string>& overrides, StudyUse use) {
  const auto document = TomlDocument::parse(toml_text, file_name, overrides);
  if (!document) return forward_error(document);
  return StudyReader(*document, use).read();
}

}  // namespace tandem::tuner
