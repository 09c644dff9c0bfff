#include <array>

#include "tuner/schedule/asha.hpp"
#include "tuner/schedule/none.hpp"
#include "tuner/schedule/trial_scheduler.hpp"

namespace tandem::tuner {

namespace {

struct Registration {
  std::string_view name;
  Result<std::unique_ptr<TrialScheduler>> (*make)(const ScheduleSetup& setup);
};

constexpr std::array kRegistry{
    Registration{"none", make_no_scheduler},
    Registration{"asha", make_asha_scheduler},
};

}  // namespace

std::vector<std::string_view> trial_scheduler_names() {
  std::vector<std::string_view> names;
  for (const auto& entry : kRegistry) names.push_back(entry.name);
  return names;
}

Result<std::unique_ptr<TrialScheduler>> make_trial_scheduler(std::string_view name, const ScheduleSetup& setup) {
  for (const auto& entry : kRegistry) {
    if (entry.name == name) return entry.make(setup);
  }
  return fail(ErrorCode::invalid_argument, "no schedule \"{}\"; available: {}", name,
              fmt::join(trial_scheduler_names(), ", "));
}

}  // namespace tandem::tuner
