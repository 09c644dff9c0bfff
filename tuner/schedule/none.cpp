#include "tuner/schedule/none.hpp"

namespace tandem::tuner {

namespace {

class NoScheduler final : public TrialScheduler {
 public:
  Decision report(TrialId, int, double) override { return Decision::proceed; }
  std::optional<TrialId> promote() override { return std::nullopt; }
  std::optional<TrialId> promote_last_resort() override { return std::nullopt; }
  void withdrawn(TrialId) override {}
};

}  // namespace

Result<std::unique_ptr<TrialScheduler>> make_no_scheduler(const ScheduleSetup&) {
  return std::make_unique<NoScheduler>();
}

}  // namespace tandem::tuner
