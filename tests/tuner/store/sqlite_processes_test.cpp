/// Several threads and processes on one state directory.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <thread>

#include "runtime/base/process_launcher.hpp"
#include "tests/tuner/store/temporary_directory.hpp"
#include "tuner/store/store.hpp"

using namespace tandem;
using namespace tandem::tuner;

namespace {

/// Another process that has stored two events and waits; gone, if not killed before, with its object.
class Holder {
 public:
  Holder(const std::string& directory, bool claims) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    ProcessSpec spec;
    spec.argv = {STORE_TEST_PROGRAM, directory, claims ? "claim" : "none"};
    spec.standard_output = StreamSource::from(ends[1]);
    PosixProcessLauncher launcher;
    auto spawned = launcher.spawn(spec);
    ::close(ends[1]);
    REQUIRE(spawned);
    process_ = std::move(*spawned);
    char answer = 0;
    CHECK(::read(ends[0], &answer, 1) == 1);
    CHECK(answer == 'y');
    ::close(ends[0]);
  }
  void kill() {
    REQUIRE(process_->kill(SIGKILL));
    REQUIRE(process_->wait());
  }
  [[nodiscard]] int pid() const { return process_->identity().pid; }

 private:
  std::unique_ptr<Process> process_;
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
  Holder holder(directory.path(), true);
  auto store = *open_sqlite_store(directory.path());
  const auto refused = store->claim("one");
  REQUIRE(!refused);
  CHECK(refused.error().message().find(fmt::format("process {}", holder.pid())) != std::string::npos);
  holder.kill();
  REQUIRE(store->claim("one"));
  CHECK(store->events("one")->size() == 2);
}

TEST_CASE("after kill -9 of the only process a reader finds everything") {
  TemporaryDirectory directory;
  Holder holder(directory.path(), false);
  holder.kill();
  auto reader = *open_sqlite_store_read_only(directory.path());
  CHECK(reader->events("one")->size() == 2);
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
