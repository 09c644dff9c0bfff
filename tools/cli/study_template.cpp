#include "tools/cli/study_template.hpp"

#include <algorithm>
#include <map>

#include "actors/workloads/workload_info.hpp"

namespace tandem::tools {
namespace {

constexpr std::string_view kHead = R"(# A Tandem study. Run it with: tandem tune FILE

[study]
name = "{name}"
objectives = ["accuracy:max"]   # measured on the validation split; "loss:min" works too
max_trials = 27
# max_parallel = 2              # trials at a time; as many as the machine's cores allow when left out
seed = 1                        # the same seed tries the same trials

[trial]
workload = "{workload}"
dataset  = "{dataset}"
epochs   = 9                    # of a trial that is not stopped early

# What to search. choice = [...] | low, high [, step] [, log = true] [, type = "int"] [, when = {{ other = value }}]
[space]
)";

constexpr std::string_view kTail = R"(
[search]
algorithm = "random"            # random | grid (every combination; ranges need a step)

[schedule]
algorithm = "asha"              # none | asha: stop bad trials early
reduction_factor = 3            # one in so many goes on at each rung
min_epochs = 1                  # the first rung
variant = "stopping"            # stopping | promotion (pause, and go on with the best)

# How trials run, searched while they run. Leave a parameter out and all sensible values are tried.
[system]
mode = "pipeline"               # fixed (defaults) | search (as if hyperparameters) | pipeline (inside each trial)
objective = "time"              # time | energy
# cores = [1, 2]
# replicas = [1, 2]
# allocator = ["default", "retain"]
)";

/// What is worth searching of a hyperparameter, by its name.
std::string_view suggested_domain(std::string_view name) {
  static const std::map<std::string_view, std::string_view> kDomains = {
      {"batch_size", "{ choice = [32, 64, 128, 256] }"},
      {"learning_rate", "{ low = 1e-3, high = 1e-1, log = true }"},
      {"optimizer", "{ choice = [\"sgd\", \"adam\"] }"},
      {"momentum", "{ low = 0.0, high = 0.95, when = { optimizer = \"sgd\" } }"},
      {"weight_decay", "{ low = 1e-6, high = 1e-3, log = true }"},
      {"dropout", "{ low = 0.0, high = 0.5 }"},
      {"hidden", "{ low = 64, high = 256, step = 32, type = \"int\" }"},
      {"embedding", "{ choice = [32, 64, 128] }"}};
  const auto found = kDomains.find(name);
  return found == kDomains.end() ? std::string_view() : found->second;
}

std::string space_lines(const actors::WorkloadInfo& workload) {
  std::string lines;
  for (const auto& parameter : workload.hyperparameters) {
    const std::string_view domain = suggested_domain(parameter.name);
    if (!domain.empty()) lines += fmt::format("{:<13} = {}\n", parameter.name, domain);
  }
  return lines;
}

}  // namespace

Result<std::string> study_template(std::string_view workload, std::string_view dataset, std::string_view name) {
  const auto* info = actors::find_workload(workload);
  if (info == nullptr) {
    std::vector<std::string> names;
    for (const auto& known : actors::builtin_workloads()) names.push_back(known.name);
    return fail(ErrorCode::invalid_argument, "no workload '{}'; allowed: {}", workload, fmt::join(names, ", "));
  }
  const auto& datasets = info->datasets;
  if (dataset.empty()) dataset = datasets.front();
  if (std::find(datasets.begin(), datasets.end(), dataset) == datasets.end()) {
    return fail(ErrorCode::invalid_argument, "workload {} has no data set '{}'; allowed: {}", workload, dataset,
                fmt::join(datasets, ", "));
  }
  return fmt::format(fmt::runtime(kHead), fmt::arg("name", name), fmt::arg("workload", workload),
                     fmt::arg("dataset", dataset)) +
         space_lines(*info) + std::string(kTail);
}

}  // namespace tandem::tools
