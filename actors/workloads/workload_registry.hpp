/// WorkloadRegistry: opens sessions of the registered workloads. One per process.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/trial/training_session.hpp"
#include "actors/workloads/classification_session.hpp"
#include "actors/workloads/data_paths.hpp"
#include "actors/workloads/dataset.hpp"
#include "actors/workloads/model.hpp"
#include "runtime/base/file_system.hpp"
#include "runtime/kernels/torch_backend.hpp"

namespace tandem::actors {

/// Used from one thread. Data sets stay loaded.
class WorkloadRegistry final : public SessionFactory {
 public:
  /// With the shipped data only; `data_directory` of a call is searched first.
  WorkloadRegistry();
  /// `paths.data_directory` is replaced by that of each call.
  WorkloadRegistry(DataPaths paths, std::shared_ptr<const FileSystem> files);

  /// Adds a workload, or replaces one of the same name.
  void add(WorkloadInfo info, MakeModel make_model);
  [[nodiscard]] std::vector<std::string> names() const;

  Result<std::unique_ptr<TrainingSession>> open(const SessionSpec& spec) override;
  Result<> preload(const std::string& dataset, const std::string& data_directory) override;
  Result<> warm_up(const std::string& workload, const std::string& dataset, const std::string& data_directory,
                   int replicas) override;

 private:
  struct Workload {
    WorkloadInfo info;
    MakeModel make_model;
  };

  Result<const Workload*> find(const std::string& name) const;
  Result<std::shared_ptr<const Dataset>> dataset(const std::string& name, const std::string& data_directory);

  DataPaths paths_;
  std::shared_ptr<const FileSystem> files_;
  std::map<std::string, Workload, std::less<>> workloads_;
  std::map<std::string, std::shared_ptr<const Dataset>> datasets_;  ///< by directory and name
  runtime::TorchBackend backend_;
};

}  // namespace tandem::actors
