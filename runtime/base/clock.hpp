/// Clock: the only way the project learns the time. Real in production, virtual in simulation.
#pragma once

#include <chrono>
#include <cstdint>

namespace tandem {

using Duration = std::chrono::nanoseconds;

/// Tag of the monotonic time line; its origin is arbitrary (boot, or the start of a simulation).
struct MonotonicTimeline {};

/// A point on the monotonic time line.
using MonotonicTime = std::chrono::time_point<MonotonicTimeline, Duration>;

/// Seconds as a double, for records and displays.
[[nodiscard]] constexpr double to_seconds(Duration duration) noexcept {
  return std::chrono::duration<double>(duration).count();
}
[[nodiscard]] constexpr Duration from_seconds(double seconds) noexcept {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

/// Thread-safe. Ownership stays with the `Runtime` (or the test) that made it.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Never goes backwards.
  [[nodiscard]] virtual MonotonicTime now() const noexcept = 0;
  /// Nanoseconds since the Unix epoch; may jump. For records only, never for intervals.
  [[nodiscard]] virtual std::int64_t unix_nanoseconds() const noexcept = 0;
};

/// CLOCK_MONOTONIC and CLOCK_REALTIME.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] MonotonicTime now() const noexcept override;
  [[nodiscard]] std::int64_t unix_nanoseconds() const noexcept override;
};

/// Advanced by hand or by the simulator's scheduler.
class VirtualClock final : public Clock {
 public:
  [[nodiscard]] MonotonicTime now() const noexcept override { return now_; }
  [[nodiscard]] std::int64_t unix_nanoseconds() const noexcept override {
    return unix_origin_ + now_.time_since_epoch().count();
  }
  /// `to` must not lie before now().
  void advance_to(MonotonicTime to) noexcept;
  /// A step of the wall clock alone, as an administrator or NTP makes one.
  void step_wall(Duration by) noexcept { unix_origin_ += by.count(); }

 private:
  MonotonicTime now_{};
  std::int64_t unix_origin_ = 1'700'000'000'000'000'000;
};

}  // namespace tandem
