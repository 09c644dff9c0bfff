/// TrainingSession: one model being trained, stepped from outside. Implemented by the workloads (LibTorch) and by
/// scripts for the simulator. Used from one thread only: the trial host's compute thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "tuner/space/value.hpp"

namespace tandem::actors {

/// Which model on which data with which hyperparameters.
struct SessionSpec {
  std::string workload;
  std::string dataset;
  std::string data_directory;  ///< searched first; then the shipped data and $TANDEM_DATA
  tuner::Parameters params;
  std::uint64_t seed = 0;  ///< of this trial: initial weights, shuffles, dropout
  int epochs = 1;
};

/// What the profiler wants to know of the model, independent of the machine.
struct ModelFeatures {
  std::int64_t parameter_count = 0;
  double flops_per_sample = 0;  ///< forward and backward, analytic
  double activation_bytes_per_sample = 0;
  std::int64_t input_elements = 0;
  std::int64_t batch_size = 0;
};

using Metrics = std::map<std::string, double, std::less<>>;

class TrainingSession {
 public:
  virtual ~TrainingSession() = default;

  [[nodiscard]] virtual std::int64_t steps_per_epoch() const noexcept = 0;
  /// Steps done since the beginning of training.
  [[nodiscard]] virtual std::int64_t step_index() const noexcept = 0;
  [[nodiscard]] virtual ModelFeatures features() const = 0;

  /// Applies live system parameters between two steps; returns what is now in force, read back.
  /// On error nothing has changed.
  virtual Result<tuner::Parameters> apply(const tuner::Parameters& system) = 0;
  /// Pins each thread that computes to a processor of its own as long as there are enough. Said again after `apply`.
  /// Until said, every thread runs where the operating system wants it.
  virtual Result<> place(std::span<const int> processors) = 0;

  /// One optimizer step on the next batch. Errors: a non-finite loss is not one; running out of memory is.
  virtual Result<> step() = 0;

  /// Validation metrics: "accuracy", "loss", and "training_loss" of the epoch so far.
  virtual Result<Metrics> evaluate() = 0;
  /// Metrics on the test split: "test_accuracy", "test_accuracy_stderr", "test_loss". For the best trial, once.
  virtual Result<Metrics> evaluate_test() = 0;

  /// Model, optimizer, random state and position, exactly; `restore` then continues bit by bit.
  virtual Result<std::string> save() = 0;
  virtual Result<> restore(std::string_view bytes) = 0;
};

/// Opens sessions; one per process. `WorkloadRegistry` in actors/workloads is the real one.
class SessionFactory {
 public:
  virtual ~SessionFactory() = default;
  virtual Result<std::unique_ptr<TrainingSession>> open(const SessionSpec& spec) = 0;
  /// Loads a data set ahead of time, so that forked hosts share its pages.
  virtual Result<> preload(const std::string& dataset, const std::string& data_directory) = 0;
  /// A few steps of the workload, so that the next step of this process runs at full speed; with several `replicas`
  /// under these too. With one no thread is started, and the process may still fork.
  virtual Result<> warm_up(const std::string& workload, const std::string& dataset, const std::string& data_directory,
                           int replicas) = 0;
};

}  // namespace tandem::actors
