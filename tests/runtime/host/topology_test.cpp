#include "runtime/host/topology.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/host/affinity.hpp"

using namespace tandem;
using namespace tandem::runtime;

TEST_CASE("this machine has processors and memory, and only allowed ones are offered") {
  const PosixFileSystem files;
  const auto topology = detect_topology(files);
  REQUIRE(topology);
  auto processors = topology->processors;
  std::sort(processors.begin(), processors.end());
  CHECK(processors == thread_affinity());
  CHECK(topology->available_cores >= 1);
  CHECK(topology->available_cores <= static_cast<int>(processors.size()));
  CHECK(topology->memory_limit_bytes > 0);
  CHECK(topology->memory_limit_bytes <= topology->physical_memory_bytes);
  CHECK(topology->host_class() == fmt::format("{}/{}", topology->cpu_model, topology->available_cores));
}

TEST_CASE("fewer allowed processors are fewer cores") {
  const PosixFileSystem files;
  const auto before = thread_affinity().value();
  REQUIRE(set_thread_affinity(std::vector<int>{before.back()}));
  const auto topology = detect_topology(files);
  REQUIRE(set_thread_affinity(before));
  REQUIRE(topology);
  CHECK(topology->available_cores == 1);
  CHECK(topology->processors == std::vector<int>{before.back()});
}

TEST_CASE("quota and memory limit of the control group bound what is offered, never below one core") {
  MemoryFileSystem files;
  files.seed("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Testium 9000\n");
  files.seed("/proc/meminfo", "MemTotal:        8388608 kB\nMemFree: 1 kB\n");
  files.seed("/proc/self/cgroup", "0::/\n");
  files.seed("/proc/self/mountinfo", "30 1 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
  files.seed("/cg/cgroup.controllers", "cpu memory\n");
  files.seed("/cg/cpu.max", "50000 100000\n");
  files.seed("/cg/memory.max", "1073741824\n");
  const auto topology = detect_topology(files);
  REQUIRE(topology);
  CHECK(topology->quota_cores == 0.5);
  CHECK(topology->available_cores == 1);
  CHECK(topology->physical_memory_bytes == std::int64_t{8} << 30);
  CHECK(topology->memory_limit_bytes == 1'073'741'824);
  CHECK(topology->host_class() == "Testium 9000/1");
}
