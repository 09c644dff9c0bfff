#include "runtime/host/cgroup.hpp"

#include <doctest/doctest.h>

using namespace tandem;
using namespace tandem::runtime;

namespace {

void seed_version_1(MemoryFileSystem& files) {
  files.seed("/proc/self/cgroup", "4:memory:/jobs/a\n2:cpu,cpuacct:/jobs/a\n1:name=systemd:/\n0::/\n");
  files.seed("/proc/self/mountinfo",
             "30 1 0:20 / /sys/fs/cgroup/cpu rw,relatime shared:1 - cgroup cgroup rw,cpu,cpuacct\n"
             "31 1 0:21 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
             "32 1 0:22 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n");
  files.seed("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  files.seed("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  files.seed("/sys/fs/cgroup/cpu/jobs/cpu.cfs_quota_us", "150000\n");
  files.seed("/sys/fs/cgroup/cpu/jobs/cpu.cfs_period_us", "100000\n");
  files.seed("/sys/fs/cgroup/cpu/jobs/a/cpu.cfs_quota_us", "400000\n");
  files.seed("/sys/fs/cgroup/cpu/jobs/a/cpu.cfs_period_us", "100000\n");
  files.seed("/sys/fs/cgroup/memory/jobs/a/memory.limit_in_bytes", "9223372036854771712\n");
  files.seed("/sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "1073741824\n");
  files.seed("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  files.seed("/sys/fs/cgroup/memory/jobs/a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
}

void seed_version_2(MemoryFileSystem& files) {
  files.seed("/proc/self/cgroup", "0::/user.slice/job\n");
  files.seed("/proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  files.seed("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n");
  files.seed("/sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
  files.seed("/sys/fs/cgroup/user.slice/job/cpu.max", "250000 100000\n");
  files.seed("/sys/fs/cgroup/user.slice/memory.max", "536870912\n");
  files.seed("/sys/fs/cgroup/user.slice/job/memory.max", "max\n");
  files.seed("/sys/fs/cgroup/user.slice/job/memory.events", "low 0\nhigh 0\nmax 9\noom 2\noom_kill 1\n");
}

}  // namespace

TEST_CASE("version 1: controllers are found by name and the tightest ancestor counts") {
  MemoryFileSystem files;
  seed_version_1(files);
  const auto cpu = find_controller(files, "cpu");
  CHECK(cpu.version == CgroupVersion::v1);
  CHECK(cpu.directory == "/sys/fs/cgroup/cpu/jobs/a");
  CHECK(cpu_quota_cores(files, cpu) == 1.5);
  const auto memory = find_controller(files, "memory");
  CHECK(memory.directory == "/sys/fs/cgroup/memory/jobs/a");
  CHECK(memory_limit_bytes(files, memory) == 1'073'741'824);
  CHECK(out_of_memory_kills(files, memory) == 3);
  CHECK(find_controller(files, "io").version == CgroupVersion::none);  // mixed: version 2 offers nothing here
}

TEST_CASE("version 2: one hierarchy, \"max\" is no limit") {
  MemoryFileSystem files;
  seed_version_2(files);
  const auto cpu = find_controller(files, "cpu");
  CHECK(cpu.version == CgroupVersion::v2);
  CHECK(cpu.directory == "/sys/fs/cgroup/user.slice/job");
  CHECK(cpu_quota_cores(files, cpu) == 2.5);
  const auto memory = find_controller(files, "memory");
  CHECK(memory_limit_bytes(files, memory) == 536'870'912);
  CHECK(out_of_memory_kills(files, memory) == 1);
}

TEST_CASE("a container that sees its own part of the hierarchy finds its group at the mount") {
  MemoryFileSystem files;
  files.seed("/proc/self/cgroup", "4:memory:/docker/abc\n");
  files.seed("/proc/self/mountinfo",
             "31 1 0:21 /docker/abc /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory\n");
  files.seed("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
  const auto memory = find_controller(files, "memory");
  CHECK(memory.directory == "/sys/fs/cgroup/memory");
  CHECK(memory_limit_bytes(files, memory) == 2'147'483'648);
}

TEST_CASE("a host without control groups, or with damaged files, has no limits") {
  MemoryFileSystem files;
  CHECK(find_controller(files, "cpu").version == CgroupVersion::none);
  CHECK_FALSE(cpu_quota_cores(files, {}));
  CHECK_FALSE(memory_limit_bytes(files, {}));
  CHECK_FALSE(out_of_memory_kills(files, {}));
  seed_version_1(files);
  for (const char* group : {"", "/jobs", "/jobs/a"}) {
    files.seed(fmt::format("/sys/fs/cgroup/cpu{}/cpu.cfs_quota_us", group), "many\n");
  }
  CHECK_FALSE(cpu_quota_cores(files, find_controller(files, "cpu")));
}
