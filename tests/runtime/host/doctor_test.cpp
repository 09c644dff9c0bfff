#include "tools/doctor.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/base/process_launcher.hpp"

using namespace tandem;
using namespace tandem::tools;

namespace {

Finding find(const std::vector<Finding>& findings, std::string_view name) {
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const auto& f) { return f.name == name; });
  REQUIRE(found != findings.end());
  return *found;
}

/// A host with everything, to which each test does one harm.
struct Host {
  MemoryFileSystem files;
  SystemClock clock;
  std::map<std::string, std::string> environment;

  Host() {
    files.seed("/proc/sys/kernel/osrelease", "6.1.0-13-amd64\n");
    files.seed("/proc/cpuinfo", "model name\t: Testium\nflags\t\t: sse2 avx2 fma avx512f\n");
    files.seed("/proc/meminfo", "MemTotal: 16777216 kB\n");
    files.seed("/proc/self/limits",
               "Limit                     Soft Limit           Hard Limit           Units\n"
               "Max processes             unlimited            unlimited            processes\n"
               "Max open files            65536                65536                files\n");
    files.seed("/proc/self/cgroup", "0::/job\n");
    files.seed("/proc/self/mountinfo", "30 1 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
    files.seed("/cg/cgroup.controllers", "cpu memory pids\n");
    files.seed("/cg/job/cgroup.procs", "1\n");
    files.seed("/cg/job/pids.max", "max\n");
    files.seed("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    files.seed("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    files.seed("/sys/class/powercap/intel-rapl:0/name", "package-0\n");
    files.seed("/sys/class/powercap/intel-rapl:0/energy_uj", "1\n");
    files.seed("/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "100\n");
    for (const char* name :
         {"libtorch_cpu.so.1.13", "libdnnl.so.2", "libdnnl.so.2.6", "libgloo.so.0", "libopenblas.so.0"}) {
      files.seed(std::string("/usr/lib/x86_64-linux-gnu/") + name, "");
    }
  }
  std::vector<Finding> examined() { return examine({files, clock, environment}); }
  Finding finding(std::string_view name) { return find(examined(), name); }
};

}  // namespace

TEST_CASE("a host with everything has nothing to remedy in what its files say") {
  Host host;
  const auto findings = host.examined();
  for (const char* name :
       {"kernel", "memory", "cgroups", "energy (RAPL)", "huge pages", "instruction set", "allocator", "open files",
        "processes", "clock source", "LibTorch", "oneDNN", "Gloo", "OpenBLAS", "environment"}) {
    CAPTURE(name);
    const auto finding = find(findings, name);
    CHECK(to_string(finding.state) == "ok");
    CHECK(finding.remedy.empty());
    CHECK_FALSE(finding.value.empty());
    CHECK_FALSE(finding.meaning.empty());
  }
  CHECK(find(findings, "oneDNN").value == "2.6");
}

TEST_CASE("each harm is found, and a remedy named") {
  struct Case {
    const char* what;
    void (*harm)(Host&);
    const char* name;
    const char* state;
    const char* told;  // in the value
  };
  const Case cases[] = {
      {"old kernel", [](Host& h) { h.files.seed("/proc/sys/kernel/osrelease", "4.19.0\n"); }, "kernel", "degraded",
       "4.19"},
      {"little memory", [](Host& h) { h.files.seed("/cg/job/memory.max", "1073741824\n"); }, "memory", "degraded",
       "1.0 GiB"},
      {"read-only groups", [](Host& h) { h.files.deny_writing("/cg"); }, "cgroups", "degraded", "not writable"},
      {"no groups", [](Host& h) { h.files.seed("/proc/self/cgroup", ""); }, "cgroups", "missing",
       "no memory controller"},
      {"unreadable RAPL", [](Host& h) { h.files.deny_access("/sys/class/powercap/intel-rapl:0/energy_uj"); },
       "energy (RAPL)", "degraded", "estimated"},
      {"no RAPL", [](Host& h) { h.files.deny_access("/sys/class/powercap"); }, "energy (RAPL)", "missing", "estimated"},
      {"no huge pages",
       [](Host& h) { h.files.seed("/sys/kernel/mm/transparent_hugepage/enabled", "always [never]\n"); }, "huge pages",
       "degraded", "never"},
      {"no AVX2", [](Host& h) { h.files.seed("/proc/cpuinfo", "flags\t: sse2 fma\n"); }, "instruction set", "degraded",
       "fma"},
      {"other allocator", [](Host& h) { h.environment["LD_PRELOAD"] = "/usr/lib/libjemalloc.so.2"; }, "allocator",
       "degraded", "jemalloc"},
      {"few files", [](Host& h) { h.files.seed("/proc/self/limits", "Max open files   256   256   files\n"); },
       "open files", "degraded", "256"},
      {"few processes", [](Host& h) { h.files.seed("/cg/job/pids.max", "100\n"); }, "processes", "degraded", "100"},
      {"slow clock",
       [](Host& h) { h.files.seed("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"); },
       "clock source", "degraded", "hpet"},
      {"no LibTorch", [](Host& h) { REQUIRE(h.files.remove("/usr/lib/x86_64-linux-gnu/libtorch_cpu.so.1.13")); },
       "LibTorch", "missing", "libtorch_cpu"},
      {"kernel choice", [](Host& h) { h.environment["OPENBLAS_CORETYPE"] = "Prescott"; }, "environment", "degraded",
       "OPENBLAS_CORETYPE=Prescott"},
      {"spinning", [](Host& h) { h.environment["OMP_WAIT_POLICY"] = "active"; }, "environment", "degraded", "active"},
  };
  for (const auto& [what, harm, name, state, told] : cases) {
    CAPTURE(what);
    Host host;
    harm(host);
    const auto finding = host.finding(name);
    CHECK(to_string(finding.state) == state);
    CHECK(finding.value.find(told) != std::string::npos);
    CHECK_FALSE(finding.remedy.empty());
  }
}

TEST_CASE("this machine can be examined, and each finding says what it means") {
  const PosixFileSystem files;
  const SystemClock clock;
  for (const auto& finding : examine({files, clock, current_environment()})) {
    CAPTURE(finding.name);
    CHECK_FALSE(finding.meaning.empty());
    CHECK((finding.state != Finding::State::missing || !finding.remedy.empty()));
  }
}

TEST_CASE("a host without any of its files is examined to the end") {
  const MemoryFileSystem files;
  const SystemClock clock;
  CHECK(examine({files, clock, {}}).size() == examine({PosixFileSystem(), clock, {}}).size());
}
