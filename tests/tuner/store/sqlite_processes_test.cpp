/// Several threads and processes on one state directory.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "tests/tuner/store/temporary_directory.hpp"
#include "tuner/store/store.hpp"

using namespace tandem;
using namespace tandem::tuner;

namespace {

/// Runs `work` in a child that then waits to be killed; returns once `work` is done.
class Child {
 public:
  template <class Work>
  explicit Child(Work work) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      const char answer = work() ? 'y' : 'n';
      static_cast<void>(::write(ends[1], &answer, 1) < 0);
      while (true) ::pause();
    }
    char answer = 0;
    CHECK(::read(ends[0], &answer, 1) == 1);
    CHECK(answer == 'y');
    ::close(ends[0]);
    ::close(ends[1]);
  }
  void kill() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

}  // namespace

TEST_CASE("a claim excludes others, names its process, and ends with release or the store") {
  TemporaryDirectory directory;
  auto one = *open_sqlite_store(directory.path());
  auto two = *open_sqlite_store(directory.path());
  REQUIRE(one->claim("study"));
  const auto refused = two->claim("study");
  REQUIRE(!refused);
  CHECK(refused.error().code() == ErrorCode::failed_precondition);
  CHECK(refused.error().message().find(fmt::format("study \"study\" is in use by process {}", ::getpid())) == 0);
  REQUIRE(two->claim("other"));
  one->release("study");
  REQUIRE(two->claim("study"));
  two.reset();
  REQUIRE(one->claim("study"));
  for (const std::string_view bad : {"", "..", "a/b"}) CHECK(!one->claim(bad));
}

TEST_CASE("kill -9 frees a claim and loses no committed event") {
  TemporaryDirectory directory;
  Child child([&] {
    auto* store = open_sqlite_store(directory.path())->release();
    return store->claim("one") && store->create({"one", "", 1, "running", 0}) &&
           store->append("one", {TrialStarted{0, 0, "w"}, TrialStarted{0, 0, "w"}});
  });
  auto store = *open_sqlite_store(directory.path());
  const auto refused = store->claim("one");
  REQUIRE(!refused);
  CHECK(refused.error().message().find(fmt::format("process {}", child.pid())) != std::string::npos);
  child.kill();
  REQUIRE(store->claim("one"));
  CHECK(store->events("one")->size() == 2);
}

TEST_CASE("after kill -9 of the only process a reader finds everything") {
  TemporaryDirectory directory;
  Child child([&] {
    auto* store = open_sqlite_store(directory.path())->release();
    return store->create({"one", "", 1, "running", 0}) && store->append("one", {TrialStarted{0, 0, "w"}});
  });
  child.kill();
  auto reader = *open_sqlite_store_read_only(directory.path());
  CHECK(reader->events("one")->size() == 1);
}

TEST_CASE("threads that open, create and append at once all succeed, and no event is lost or out of order") {
  TemporaryDirectory directory;
  constexpr int kThreads = 4;
  constexpr int kAppends = 50;
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      auto store = open_sqlite_store(directory.path());
      if (!store) {
        ++failures;
        return;
      }
      const std::string name = "study-" + std::to_string(t);
      if (!(*store)->create({name, "", 1, "running", 0})) ++failures;
      for (int i = 0; i < kAppends; ++i) {
        if (!(*store)->append(name, {TrialStarted{i, 0, name}, TrialStarted{i, 1, name}})) ++failures;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(failures == 0);
  auto store = *open_sqlite_store(directory.path());
  CHECK(store->studies()->size() == kThreads);
  for (int t = 0; t < kThreads; ++t) {
    const auto events = *store->events("study-" + std::to_string(t));
    REQUIRE(events.size() == 2 * kAppends);
    for (int i = 0; i < 2 * kAppends; ++i) {
      CHECK(std::get<TrialStarted>(events[static_cast<std::size_t>(i)]).trial == i / 2);
    }
  }
}
