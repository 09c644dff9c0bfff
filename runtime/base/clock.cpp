#include "runtime/base/clock.hpp"

namespace tandem {

MonotonicTime SystemClock::now() const noexcept {
  return MonotonicTime(std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

std::int64_t SystemClock::unix_nanoseconds() const noexcept {
  return std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void VirtualClock::advance_to(MonotonicTime to) noexcept {
  if (to > now_) now_ = to;
}

}  // namespace tandem
