/// ThreadCompute: orders carried out by the one thread that calls `run`, over a real TrainingSession.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>

#include "actors/trial/compute.hpp"
#include "runtime/actor/runtime.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/file_system.hpp"
#include "runtime/host/energy.hpp"
#include "runtime/host/sampler.hpp"

namespace tandem::actors {

class ThreadCompute final : public Compute {
 public:
  struct Parts {
    runtime::Runtime& runtime;
    SessionFactory& sessions;
    FileSystem& files;
    Clock& clock;
  };

  explicit ThreadCompute(Parts parts);

  void attach(runtime::ActorRef trial_actor) override { trial_actor_ = trial_actor; }
  void open(OpenOrder order) override;
  void run_window(WindowOrder order) override;
  void finish_epoch(std::string checkpoint_file, std::string obsolete_file) override;
  void measure_test() override;

  /// Serves orders on the calling thread, the compute thread, until `quit`.
  void run();
  /// From any thread; the step under way is finished first.
  void quit();

 private:
  struct EpochOrder {
    std::string checkpoint_file;
    std::string obsolete_file;
  };
  struct TestOrder {};
  struct QuitOrder {};
  using Order = std::variant<OpenOrder, WindowOrder, EpochOrder, TestOrder, QuitOrder>;

  void push(Order order);
  Order pop();
  void carry_out(OpenOrder& order);
  void carry_out(WindowOrder& order);
  void carry_out(EpochOrder& order);
  void carry_out(TestOrder& order);

  Result<> start_session(OpenOrder& order);
  /// The first `cores` of the lease; empty: where they are is not ours to say.
  [[nodiscard]] Result<std::vector<int>> processors_for(const tuner::Parameters& system) const;
  Result<> apply(const tuner::Parameters& system);
  [[nodiscard]] bool quitting() const;

  Parts parts_;
  runtime::ActorRef trial_actor_;
  runtime::ResourceSampler sampler_;
  runtime::EnergyMeter energy_;
  std::unique_ptr<TrainingSession> session_;
  std::vector<int> cores_;
  tuner::Parameters applied_;

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::optional<Order> order_;
  bool quitting_ = false;
};

}  // namespace tandem::actors
