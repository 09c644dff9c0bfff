#include "runtime/host/memory.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <vector>

using namespace tandem;
using namespace tandem::runtime;

TEST_CASE("touching fresh pages costs time, and asking for none is refused") {
  const SystemClock clock;
  const auto seconds = measure_page_fault_seconds(clock, 256);
  REQUIRE(seconds);
  CHECK(*seconds > 0);
  CHECK(measure_page_fault_seconds(clock, 0).error().code() == ErrorCode::invalid_argument);
}

TEST_CASE("resident bytes grow with what is touched") {
  const PosixFileSystem files;
  const auto before = resident_bytes(files, ::getpid());
  REQUIRE(before);
  std::vector<char> block(std::size_t{32} << 20, 'x');
  const auto after = resident_bytes(files, ::getpid());
  REQUIRE(after);
  CHECK(*after >= *before + (std::int64_t{24} << 20));
  CHECK(block[1] == 'x');
  CHECK(resident_bytes(files, 0x3fffffff).error().code() == ErrorCode::not_found);
}

TEST_CASE("a process group's resident bytes are those of its processes") {
  MemoryFileSystem files;
  files.seed("/proc/10/stat", "10 (a b) c) S 1 10 10 0\n");
  files.seed("/proc/10/statm", "100 3 1 1 0 1 0\n");
  files.seed("/proc/11/stat", "11 (child) R 10 10 10 0\n");
  files.seed("/proc/11/statm", "100 4 1 1 0 1 0\n");
  files.seed("/proc/12/stat", "12 (other) S 1 12 12 0\n");
  files.seed("/proc/12/statm", "100 50 1 1 0 1 0\n");
  files.seed("/proc/meminfo", "x");
  CHECK(group_resident_bytes(files, 10) == 7 * ::sysconf(_SC_PAGESIZE));
  CHECK(group_resident_bytes(files, 99).error().code() == ErrorCode::not_found);
}

TEST_CASE("a memory group is made below our own, limited, filled and removed") {
  MemoryFileSystem files;
  files.seed("/proc/self/cgroup", "0::/job\n");
  files.seed("/proc/self/mountinfo", "30 1 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
  files.seed("/cg/cgroup.controllers", "memory\n");
  files.seed("/cg/job/cgroup.procs", "1\n");
  CHECK(MemoryGroup::create(files, "host-7", 1024).error().code() == ErrorCode::failed_precondition);
  CHECK_FALSE(files.exists("/cg/job/host-7"));  // an attempt leaves nothing behind

  // The kernel fills a new group with its files; here they are there before.
  files.seed("/cg/job/host-7/memory.max", "max\n");
  files.seed("/cg/job/host-7/cgroup.procs", "");
  files.seed("/cg/job/host-7/memory.events", "oom 1\noom_kill 2\n");
  auto group = MemoryGroup::create(files, "host-7", 1 << 20);
  REQUIRE(group);
  CHECK(files.read_file("/cg/job/host-7/memory.max") == "1048576");
  REQUIRE(group->add(4711));
  CHECK(files.read_file("/cg/job/host-7/cgroup.procs") == "4711");
  CHECK(group->out_of_memory_kills() == 2);
}

TEST_CASE("a host that lets us make no groups says so") {
  MemoryFileSystem files;
  CHECK(MemoryGroup::create(files, "host-7", 1024).error().code() == ErrorCode::failed_precondition);
  files.seed("/proc/self/cgroup", "0::/job\n");
  files.seed("/proc/self/mountinfo", "30 1 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
  files.seed("/cg/cgroup.controllers", "memory\n");
  files.seed("/cg/job/cgroup.procs", "1\n");
  files.deny_writing("/cg");
  CHECK(MemoryGroup::create(files, "host-7", 1024).error().code() == ErrorCode::permission_denied);
}

TEST_CASE("each out-of-memory kill is claimed once, those from before never") {
  MemoryFileSystem files;
  files.seed("/proc/vmstat", "nr_free_pages 5\noom_kill 7\n");
  OutOfMemoryWatch watch(files);
  CHECK_FALSE(watch.claim_kill());
  files.seed("/proc/vmstat", "nr_free_pages 5\noom_kill 9\n");
  CHECK(watch.claim_kill());
  CHECK(watch.claim_kill());
  CHECK_FALSE(watch.claim_kill());
}
