#include "runtime/executor/local_executor.hpp"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <optional>

namespace tandem::runtime {

namespace {

/// One call of `run_chunks`: the next chunk to take, and the failure of the lowest chunk.
class Run {
 public:
  Run(std::int64_t count, const LocalExecutor::Chunk& chunk) : count_(count), chunk_(chunk) {}

  void work(int slot) {
    while (!failed_.load(std::memory_order_relaxed)) {
      const std::int64_t index = next_.fetch_add(1, std::memory_order_relaxed);
      if (index >= count_) return;
      if (auto done = guarded(index, slot); !done) record(index, done.error());
    }
  }

  [[nodiscard]] Result<> outcome() const {
    if (error_) return tl::unexpected<Error>(*error_);
    return {};
  }

 private:
  Result<> guarded(std::int64_t index, int slot) const {
    try {
      return chunk_(index, slot);
    } catch (const std::bad_alloc&) {
      return fail(ErrorCode::resource_exhausted, "out of memory in chunk {}", index);
    } catch (const std::exception& exception) {
      return fail(ErrorCode::internal, "chunk {}: {}", index, exception.what());
    }
  }

  void record(std::int64_t index, const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_ || index < error_chunk_) {
      error_ = error;
      error_chunk_ = index;
    }
    failed_.store(true, std::memory_order_relaxed);
  }

  const std::int64_t count_;
  const LocalExecutor::Chunk& chunk_;
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::optional<Error> error_;
  std::int64_t error_chunk_ = 0;
};

}  // namespace

/// TBB sizes its pool by the affinity it saw first, which live changes of cores make stale: the control lifts that.
class LocalExecutor::Arena {
 public:
  explicit Arena(int slots)
      : parallelism_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(slots)), arena_(slots, 1) {}

  void run(int helpers, const std::function<void(int)>& work) {
    work_.store(&work, std::memory_order_release);
    arena_.execute([&] {
      tbb::task_group group;
      for (int slot = 1; slot <= helpers; ++slot) group.run(SlotTask{this, slot});
      work(0);
      group.wait();
    });
    (void)finished_.load(std::memory_order_acquire);
  }

 private:
  /// TBB's library is not built for ThreadSanitizer, which therefore does not see that TBB hands a task over properly.
  /// The task's own two fields are read unseen; all else is ordered by `work_` and `finished_`, and stays checked.
  struct SlotTask {
    Arena* arena;
    int slot;
    [[gnu::no_sanitize("thread")]] void operator()() const { work_in(arena, slot); }
  };

  [[gnu::noinline]] static void work_in(Arena* arena, int slot) {
    (*arena->work_.load(std::memory_order_acquire))(slot);
    arena->finished_.fetch_add(1, std::memory_order_release);
  }

  tbb::global_control parallelism_;
  tbb::task_arena arena_;
  std::atomic<const std::function<void(int)>*> work_{nullptr};
  std::atomic<std::uint64_t> finished_{0};  ///< tasks, over all runs
};

LocalExecutor::LocalExecutor() = default;
LocalExecutor::~LocalExecutor() = default;

Result<> LocalExecutor::resize(int slots) {
  if (slots < 1 || slots > kExecutorSlots) {
    return fail(ErrorCode::invalid_argument, "executor: {} slots asked for, 1 to {} are allowed", slots,
                kExecutorSlots);
  }
  if (slots != slots_) arena_.reset();
  slots_ = slots;
  return {};
}

Result<> LocalExecutor::run_chunks(std::int64_t count, const Chunk& chunk) {
  Run run(count, chunk);
  const std::function<void(int)> work = [&](int slot) {
    if (hook_) hook_(slot);
    run.work(slot);
  };
  const int helpers = static_cast<int>(std::min<std::int64_t>(slots_, count)) - 1;
  if (helpers < 1) {
    work(0);
    return run.outcome();
  }
  if (!arena_) arena_ = std::make_unique<Arena>(slots_);
  arena_->run(helpers, work);
  return run.outcome();
}

}  // namespace tandem::runtime
