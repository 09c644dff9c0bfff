#include "actors/workloads/workload_registry.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "actors/workloads/models/builtin.hpp"

namespace tandem::actors {

namespace {

/// Enough to make every primitive and touch every page that a step needs.
constexpr int kWarmUpSteps = 2;

Result<> take_steps(TrainingSession& session) {
  for (int i = 0; i < kWarmUpSteps; ++i) {
    if (auto stepped = session.step(); !stepped) return stepped;
  }
  return {};
}

}  // namespace

WorkloadRegistry::WorkloadRegistry() : WorkloadRegistry(default_data_paths({}), std::make_shared<PosixFileSystem>()) {}

WorkloadRegistry::WorkloadRegistry(DataPaths paths, std::shared_ptr<const FileSystem> files)
    : paths_(std::move(paths)), files_(std::move(files)) {
  add(*find_workload("mlp"), make_mlp);
  add(*find_workload("lenet5"), make_lenet5);
}

void WorkloadRegistry::add(WorkloadInfo info, MakeModel make_model) {
  std::string name = info.name;
  workloads_.insert_or_assign(std::move(name), Workload{std::move(info), std::move(make_model)});
}

std::vector<std::string> WorkloadRegistry::names() const {
  std::vector<std::string> names;
  for (const auto& [name, workload] : workloads_) names.push_back(name);
  return names;
}

Result<const WorkloadRegistry::Workload*> WorkloadRegistry::find(const std::string& name) const {
  const auto found = workloads_.find(name);
  if (found == workloads_.end()) {
    return fail(ErrorCode::not_found, "there is no workload '{}'; known: {}", name, fmt::join(names(), ", "));
  }
  return &found->second;
}

Result<std::shared_ptr<const Dataset>> WorkloadRegistry::dataset(const std::string& name,
                                                                 const std::string& data_directory) {
  const std::string key = data_directory + '\n' + name;
  if (const auto found = datasets_.find(key); found != datasets_.end()) return found->second;
  DataPaths paths = paths_;
  if (!data_directory.empty()) paths.data_directory = data_directory;
  const auto location = locate(name, paths, *files_);
  if (!location) return forward_error(location);
  auto loaded = load_dataset(*find_dataset(name), *location, *files_);
  if (loaded) datasets_.emplace(key, *loaded);
  return loaded;
}

Result<std::unique_ptr<TrainingSession>> WorkloadRegistry::open(const SessionSpec& spec) {
  const auto workload = find(spec.workload);
  if (!workload) return forward_error(workload);
  const WorkloadInfo& info = (*workload)->info;
  if (std::find(info.datasets.begin(), info.datasets.end(), spec.dataset) == info.datasets.end()) {
    return fail(ErrorCode::invalid_argument, "workload '{}' does not run on data set '{}'; it runs on: {}", info.name,
                spec.dataset, fmt::join(info.datasets, ", "));
  }
  auto data = dataset(spec.dataset, spec.data_directory);
  if (!data) return forward_error(data);
  return ClassificationSession::open(spec, info, (*workload)->make_model, std::move(*data), backend_);
}

Result<> WorkloadRegistry::preload(const std::string& name, const std::string& data_directory) {
  const auto loaded = dataset(name, data_directory);
  if (!loaded) return forward_error(loaded);
  return {};
}

Result<> WorkloadRegistry::warm_up(const std::string& workload, const std::string& dataset_name,
                                   const std::string& data_directory, int replicas) {
  SessionSpec spec;
  spec.workload = workload;
  spec.dataset = dataset_name;
  spec.data_directory = data_directory;
  auto session = open(spec);
  if (!session) return forward_error(session);
  if (auto stepped = take_steps(**session); !stepped || replicas < 2) return stepped;
  // What most trials begin with: threads of the executor, and pages that are kept.
  const auto most = std::min<std::int64_t>(replicas, (*session)->features().batch_size);
  auto applied = (*session)->apply({{"replicas", most}, {"allocator", std::string("retain")}});
  if (!applied) return forward_error(applied);
  if (auto stepped = take_steps(**session); !stepped) return stepped;
  applied = (*session)->apply({{"replicas", std::int64_t{1}}, {"allocator", std::string("default")}});
  if (!applied) return forward_error(applied);
  return {};
}

}  // namespace tandem::actors
