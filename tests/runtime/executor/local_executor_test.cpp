#include "runtime/executor/local_executor.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tandem::runtime {
namespace {

TEST_CASE("every chunk runs exactly once, for any number of slots") {
  for (const int slots : {1, 2, 3, 7}) {
    for (const std::int64_t count : {0, 1, 2, 5, 100}) {
      CAPTURE(slots);
      CAPTURE(count);
      LocalExecutor executor;
      REQUIRE(executor.resize(slots));
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
      std::atomic<bool> slot_in_range{true};
      REQUIRE(executor.run_chunks(count, [&](std::int64_t chunk, int slot) -> Result<> {
        runs[static_cast<std::size_t>(chunk)].fetch_add(1);
        if (slot < 0 || slot >= slots) slot_in_range = false;
        return {};
      }));
      for (const auto& run : runs) CHECK(run.load() == 1);
      CHECK(slot_in_range);
    }
  }
}

TEST_CASE("one slot runs on the calling thread, in order") {
  LocalExecutor executor;
  std::vector<std::int64_t> order;
  std::set<std::thread::id> threads;
  REQUIRE(executor.run_chunks(5, [&](std::int64_t chunk, int) -> Result<> {
    order.push_back(chunk);
    threads.insert(std::this_thread::get_id());
    return {};
  }));
  CHECK(order == std::vector<std::int64_t>{0, 1, 2, 3, 4});
  CHECK(threads == std::set<std::thread::id>{std::this_thread::get_id()});
}

TEST_CASE("two slots run at the same time on two threads") {
  LocalExecutor executor;
  REQUIRE(executor.resize(2));
  std::mutex mutex;
  std::condition_variable met;
  int arrived = 0;
  std::set<std::thread::id> threads;
  // Each chunk waits for the other: done one after the other, this would never end.
  REQUIRE(executor.run_chunks(2, [&](std::int64_t, int) -> Result<> {
    std::unique_lock lock(mutex);
    threads.insert(std::this_thread::get_id());
    ++arrived;
    met.notify_all();
    met.wait(lock, [&] { return arrived == 2; });
    return {};
  }));
  CHECK(threads.size() == 2);
}

TEST_CASE("a slot is used by one thread at a time") {
  LocalExecutor executor;
  REQUIRE(executor.resize(4));
  std::array<std::atomic<int>, 4> users{};
  std::atomic<bool> shared{false};
  REQUIRE(executor.run_chunks(2'000, [&](std::int64_t, int slot) -> Result<> {
    auto& user = users[static_cast<std::size_t>(slot)];
    if (user.fetch_add(1) != 0) shared = true;
    user.fetch_sub(1);
    return {};
  }));
  CHECK_FALSE(shared);
}

TEST_CASE("the thread hook runs on the thread before its first chunk, in every run") {
  thread_local int setting = 0;
  LocalExecutor executor;
  for (const int slots : {1, 3, 2}) {
    REQUIRE(executor.resize(slots));
    executor.set_thread_hook([slots](int) { setting = slots; });
    std::atomic<bool> set{true};
    REQUIRE(executor.run_chunks(64, [&](std::int64_t, int) -> Result<> {
      if (setting != slots) set = false;
      return {};
    }));
    CHECK(set);
  }
}

TEST_CASE("the failure of the lowest failing chunk is returned and no further chunk begins") {
  LocalExecutor executor;
  std::vector<std::int64_t> begun;
  const auto failed = executor.run_chunks(10, [&](std::int64_t chunk, int) -> Result<> {
    begun.push_back(chunk);
    if (chunk == 3) return fail(ErrorCode::resource_exhausted, "chunk three");
    return {};
  });
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == ErrorCode::resource_exhausted);
  CHECK(failed.error().message() == "chunk three");
  CHECK(begun.back() == 3);
}

TEST_CASE("after a failure the executor goes on") {
  LocalExecutor executor;
  REQUIRE(executor.resize(2));
  REQUIRE_FALSE(executor.run_chunks(50, [](std::int64_t chunk, int) -> Result<> {
    if (chunk % 2 == 1) return fail(ErrorCode::internal, "odd");
    return {};
  }));
  std::atomic<int> done{0};
  REQUIRE(executor.run_chunks(50, [&](std::int64_t, int) -> Result<> {
    done.fetch_add(1);
    return {};
  }));
  CHECK(done == 50);
}

TEST_CASE("exceptions become errors") {
  LocalExecutor executor;
  const auto memory = executor.run_chunks(1, [](std::int64_t, int) -> Result<> { throw std::bad_alloc(); });
  REQUIRE_FALSE(memory);
  CHECK(memory.error().code() == ErrorCode::resource_exhausted);
  const auto broken = executor.run_chunks(1, [](std::int64_t, int) -> Result<> { throw std::runtime_error("why"); });
  REQUIRE_FALSE(broken);
  CHECK(broken.error().code() == ErrorCode::internal);
  CHECK(broken.error().message().find("why") != std::string::npos);
}

TEST_CASE("a size outside the limits is refused and changes nothing") {
  LocalExecutor executor;
  REQUIRE(executor.resize(2));
  for (const int slots : {0, -1, LocalExecutor::kExecutorSlots + 1}) {
    const auto resized = executor.resize(slots);
    REQUIRE_FALSE(resized);
    CHECK(resized.error().code() == ErrorCode::invalid_argument);
    CHECK(executor.slots() == 2);
  }
}

}  // namespace
}  // namespace tandem::runtime
