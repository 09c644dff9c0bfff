/// What the wire's tests share: a network in memory that runs when the test says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "runtime/wire/memory_transport.hpp"

namespace tandem::runtime {

/// A network whose tasks run when the test says, in the order of their time.
struct Net {
  std::multimap<Duration, UniqueFunction<void()>> tasks;
  Duration now{};
  std::size_t chunk_bytes = SIZE_MAX;
  MemoryNetwork network{[this](std::uint64_t, Duration delay, UniqueFunction<void()> task) {
                          tasks.emplace(now + delay, std::move(task));
                        },
                        [this](std::uint64_t, std::uint64_t) {
                          return MemoryNetwork::Conditions{std::chrono::microseconds(10), chunk_bytes};
                        }};
  std::unique_ptr<Transport> a = network.transport(1), b = network.transport(2);

  ~Net() { tasks.clear(); }

  void run(Duration until = std::chrono::seconds(1)) {
    const Duration end = now + until;
    while (!tasks.empty() && tasks.begin()->first <= end) {
      auto task = tasks.extract(tasks.begin());
      now = std::max(now, task.key());
      task.mapped()();
    }
  }
};

}  // namespace tandem::runtime
