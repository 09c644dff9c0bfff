#include "runtime/host/sampler.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <thread>

#include "runtime/host/perf_events.hpp"

using namespace tandem;
using namespace tandem::runtime;

namespace {

void touch_pages(int pages) {
  const auto bytes = static_cast<std::size_t>(pages) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  auto* memory = static_cast<char*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(memory != MAP_FAILED);
  ::madvise(memory, bytes, MADV_NOHUGEPAGE);
  for (std::size_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
  ::munmap(memory, bytes);
}

void burn() {
  volatile double sum = 0;
  for (int i = 0; i < 40'000'000; ++i) sum = sum + i;
}

}  // namespace

TEST_CASE("a window counts the faults and the processor time spent within it") {
  ResourceSampler sampler;
  sampler.begin();
  (void)sampler.end();
  touch_pages(8'000);  // outside any window
  sampler.begin();
  touch_pages(1'000);
  burn();
  const ResourceUse use = sampler.end();
  CHECK(use.minor_faults >= 1'000);
  CHECK(use.minor_faults < 8'000);  // a sanitizer's shadow pages fault too, threefold here
  CHECK(use.cpu_seconds() > 0);
  CHECK(use.run_queue_wait_seconds >= 0);
}

TEST_CASE("an end without a begin is all zeros") {
  ResourceSampler sampler;
  CHECK(sampler.end().minor_faults == 0);
  sampler.begin();
  (void)sampler.end();
  CHECK(sampler.end().cpu_seconds() == 0);
}

TEST_CASE("events of threads that were there, and of those started in the window, are counted") {
  ResourceSampler sampler;
  const auto names = sampler.event_names();
  if (std::find(names.begin(), names.end(), "task_clock_seconds") == names.end()) {
    MESSAGE("this host counts no perf events");
    return;
  }
  std::promise<void> go;
  std::thread present([gone = go.get_future()] {
    gone.wait();
    burn();
  });
  ResourceSampler fresh;  // opens its counters while `present` waits
  fresh.begin();
  std::thread started([] { burn(); });
  go.set_value();
  present.join();
  started.join();
  const ResourceUse use = fresh.end();
  CHECK(use.cpu_seconds() > 0);
  CHECK(use.events.at("task_clock_seconds") > 0.75 * use.cpu_seconds());  // one of the two alone is about a half
}

TEST_CASE("every event tried is reported with its reason") {
  const auto support = probe_events();
  CHECK(support.size() == perf_event_kinds().size());
  for (const auto& event : support) CHECK(event.available == (event.error_number == 0));
}

TEST_CASE("counts of multiplexed events are scaled to the whole time") {
  struct Case {
    PerfCount before, after;
    double expected;
  };
  const Case cases[] = {
      {{0, 0, 0}, {100, 10, 10}, 100},
      {{100, 10, 10}, {150, 30, 20}, 100},  // ran half of the window
      {{100, 10, 10}, {100, 30, 10}, 0},    // never ran
      {{100, 10, 10}, {90, 30, 20}, 0},     // a reading that failed
  };
  for (const auto& [before, after, expected] : cases) CHECK(scaled_difference(before, after) == expected);
}
