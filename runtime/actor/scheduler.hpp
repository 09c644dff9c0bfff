/// Scheduler: who runs next. A pool of threads in production, one seeded thread in simulation.
#pragma once

#include <cstdint>

#include "runtime/base/clock.hpp"
#include "runtime/base/unique_function.hpp"

namespace tandem::runtime {

/// Something that is run in turns; never in two threads at a time, which the submitter sees to.
class Turn {
 public:
  virtual void run_turn() = 0;
  /// The time of `wake_at` has come. Must only submit itself.
  virtual void wake() = 0;
  /// Orders turns that are due at the same time, for reproducible runs.
  [[nodiscard]] virtual std::uint64_t turn_id() const noexcept = 0;
  /// Whether the turn just run was long, so that whom it woke should not wait for the thread.
  [[nodiscard]] virtual bool slow() const noexcept = 0;

 protected:
  ~Turn() = default;
};

/// Thread-safe. Turns outlive the scheduler's last run of them.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  /// Runs the turn once, soon, on some thread.
  virtual void submit(Turn& turn) = 0;
  /// Wakes the turn at `when`; replaces an earlier request of the same turn.
  virtual void wake_at(Turn& turn, MonotonicTime when) = 0;
  virtual void cancel_wake(Turn& turn) = 0;
  /// Runs a task of the runtime itself, soon.
  virtual void post(UniqueFunction<void()> task) = 0;
  /// Whether the caller may wait for what this scheduler has still to run.
  [[nodiscard]] virtual bool may_block() const noexcept = 0;
  /// Returns when nothing runs any more; nothing is run after.
  virtual void stop() = 0;
};

}  // namespace tandem::runtime
