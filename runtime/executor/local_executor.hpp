/// LocalExecutor: runs the chunks of one step side by side in a TBB arena whose size comes from the lease.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "runtime/base/result.hpp"

namespace tandem::runtime {

/// Used from one thread. With one slot everything runs on that thread and TBB is never started, so that a process
/// may still fork.
class LocalExecutor {
 public:
  /// A chunk of work. A slot is used by one thread at a time: buffers may be kept per slot.
  using Chunk = std::function<Result<>(std::int64_t chunk, int slot)>;
  /// Called on each thread as it takes a slot, before its first chunk of a run: thread-local settings belong here
  /// (OpenMP's thread count, affinity). Must be cheap.
  using ThreadHook = std::function<void(int slot)>;

  LocalExecutor();
  ~LocalExecutor();
  LocalExecutor(const LocalExecutor&) = delete;
  LocalExecutor& operator=(const LocalExecutor&) = delete;

  [[nodiscard]] int slots() const noexcept { return slots_; }
  /// Between two runs. invalid_argument outside 1 to kExecutorSlots.
  Result<> resize(int slots);
  void set_thread_hook(ThreadHook hook) { hook_ = std::move(hook); }

  /// Runs `chunk` for 0 … count − 1 and returns when all are done. Slots take the next chunk when they are free, so a
  /// core that is held up delays one chunk only; slot 0 is the calling thread.
  /// After a failure no further chunk begins; of several failures that of the lowest chunk is returned.
  /// An exception out of `chunk` becomes an error: resource_exhausted for std::bad_alloc, else internal.
  Result<> run_chunks(std::int64_t count, const Chunk& chunk);

  static constexpr int kExecutorSlots = 256;

 private:
  class Arena;

  int slots_ = 1;
  ThreadHook hook_;
  std::unique_ptr<Arena> arena_;  ///< made at the first run with more than one slot
};

}  // namespace tandem::runtime
