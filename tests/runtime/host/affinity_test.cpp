#include "runtime/host/affinity.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

using namespace tandem;
using namespace tandem::runtime;

namespace {

/// Puts the process's affinity back.
class AffinityGuard {
 public:
  AffinityGuard() : before_(thread_affinity().value()) {}
  ~AffinityGuard() { (void)set_process_affinity(before_); }
  [[nodiscard]] const std::vector<int>& before() const { return before_; }

 private:
  std::vector<int> before_;
};

}  // namespace

TEST_CASE("the calling thread's affinity is set and read back, other threads keep theirs") {
  const AffinityGuard guard;
  const std::vector<int> one = {guard.before().back()};
  std::promise<void> go;
  std::vector<int> seen;
  std::thread other([&, gone = go.get_future()] {
    gone.wait();
    seen = thread_affinity().value();
  });
  REQUIRE(set_thread_affinity(one));
  CHECK(thread_affinity() == one);
  go.set_value();
  other.join();
  CHECK(seen == guard.before());
}

TEST_CASE("process affinity reaches every thread, those being started meanwhile included") {
  const AffinityGuard guard;
  const std::vector<int> one = {guard.before().front()};
  std::atomic<bool> stop = false;
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([released] { released.wait(); });
  std::vector<std::thread> born;
  std::promise<void> first_born;
  std::thread breeder([&] {  // keeps on making threads while the passes run
    for (int i = 0; i < 200 && !stop; ++i) {
      born.emplace_back([released] { released.wait(); });
      if (i == 0) first_born.set_value();
    }
  });
  first_born.get_future().wait();
  const auto bound = set_process_affinity(one);
  stop = true;
  breeder.join();
  REQUIRE(bound);
  const auto tids = process_threads();
  REQUIRE(tids);
  CHECK(tids->size() >= threads.size() + born.size() + 1);
  for (const int tid : *tids) {
    const auto affinity = thread_affinity(tid);
    if (affinity) CHECK(*affinity == one);  // it may just have ended
  }
  release.set_value();
  for (auto& thread : threads) thread.join();
  for (auto& thread : born) thread.join();
}

TEST_CASE("processors that do not exist are refused by name, and nothing changes") {
  const AffinityGuard guard;
  const int good = guard.before().front();
  const std::vector<std::vector<int>> cases = {{}, {-1}, {1'000'000}, {1023}, {good, 1023}};
  for (const auto& processors : cases) {
    CAPTURE(processors.size());
    const auto refused = set_process_affinity(processors);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == ErrorCode::invalid_argument);
    if (!processors.empty()) {
      CHECK(refused.error().message().find(std::to_string(processors.back())) != std::string::npos);
    }
    CHECK(thread_affinity() == guard.before());
  }
}

TEST_CASE("the affinity of a thread that has ended is not_found") {
  CHECK(thread_affinity(0x3fffffff).error().code() == ErrorCode::not_found);
}
