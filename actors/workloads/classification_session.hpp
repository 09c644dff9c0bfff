/// ClassificationSession: trains a Model to tell the classes of a Dataset apart. Batches are cut into fixed chunks,
/// replicas compute the chunks side by side, gradients are summed in a fixed tree: the result depends on the chunking,
/// never on how many replicas there are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actors/trial/training_session.hpp"
#include "actors/workloads/batch_reader.hpp"
#include "actors/workloads/dataset.hpp"
#include "actors/workloads/gradient_pool.hpp"
#include "actors/workloads/model.hpp"
#include "actors/workloads/optimizer.hpp"
#include "actors/workloads/system_settings.hpp"
#include "actors/workloads/workload_info.hpp"
#include "runtime/executor/local_executor.hpp"
#include "runtime/kernels/kernel_backend.hpp"

namespace tandem::actors {

class ClassificationSession final : public TrainingSession {
 public:
  /// Refuses hyperparameters that `workload` does not have or that do not suit `dataset`. `backend` outlives the
  /// session.
  static Result<std::unique_ptr<TrainingSession>> open(const SessionSpec& spec, const WorkloadInfo& workload,
                                                       const MakeModel& make_model,
                                                       std::shared_ptr<const Dataset> dataset,
                                                       runtime::KernelBackend& backend);

  [[nodiscard]] std::int64_t steps_per_epoch() const noexcept override;
  [[nodiscard]] std::int64_t step_index() const noexcept override { return step_index_; }
  [[nodiscard]] ModelFeatures features() const override;
  Result<tuner::Parameters> apply(const tuner::Parameters& system) override;
  Result<> place(std::span<const int> processors) override;
  Result<> step() override;
  Result<Metrics> evaluate() override;
  Result<Metrics> evaluate_test() override;
  Result<std::string> save() override;
  Result<> restore(std::string_view bytes) override;

 private:
  /// What one slot of the executor computes with.
  struct Slot {
    std::unique_ptr<Replica> replica;
    SampleBuffer buffer;
  };
  struct Measured {
    double accuracy = 0;
    double loss = 0;
    std::int64_t samples = 0;
  };

  ClassificationSession(const SessionSpec& spec, tuner::Parameters params, std::unique_ptr<Model> model,
                        std::shared_ptr<const Dataset> dataset, runtime::KernelBackend& backend);

  Result<> add_slots(int count);
  void set_thread_hook();
  Result<> put_in_force(const SystemSettings& settings);
  [[nodiscard]] tuner::Parameters in_force() const;
  Result<Measured> measure(const LabelledImages& split);

  const tuner::Parameters params_;
  const std::uint64_t seed_;
  const std::uint64_t fingerprint_;
  const std::int64_t batch_size_;
  const std::shared_ptr<const Dataset> dataset_;
  const std::unique_ptr<Model> model_;
  runtime::KernelBackend& backend_;
  BatchReader reader_;

  std::vector<float> parameters_;
  std::unique_ptr<Optimizer> optimizer_;
  GradientPool gradients_;
  SystemSettings settings_;
  runtime::LocalExecutor executor_;
  std::vector<int> processors_;  ///< empty: not placed
  std::vector<Slot> slots_;

  std::int64_t step_index_ = 0;
  double epoch_loss_ = 0;  ///< sum over `epoch_samples_`
  std::int64_t epoch_samples_ = 0;
  std::int64_t order_epoch_ = -1;
  std::vector<std::uint32_t> order_;  ///< of `order_epoch_`
};

}  // namespace tandem::actors
