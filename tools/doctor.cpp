#include "tools/doctor.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "runtime/base/byte_size.hpp"
#include "runtime/host/cgroup.hpp"
#include "runtime/host/energy.hpp"
#include "runtime/host/memory.hpp"
#include "runtime/host/sampler.hpp"
#include "runtime/host/system_files.hpp"
#include "runtime/host/topology.hpp"

namespace tandem::tools {

namespace {

using namespace tandem::runtime;
using State = Finding::State;

constexpr std::int64_t kMinimumOpenFiles = 4'096;
constexpr std::int64_t kMinimumProcesses = 2'048;
constexpr std::int64_t kMinimumMemoryBytes = std::int64_t{2} << 30;
/// Bare metal takes well under 1 µs for a page; above it allocation decides how fast a step is.
constexpr double kDearPageFaultSeconds = 1e-6;

std::optional<std::string> read_text(const Patient& patient, const std::string& path) {
  const auto text = patient.files.read_file(path, limits::kSystemFileBytes);
  if (!text) return std::nullopt;
  return std::string(trimmed(*text));
}

/// The processor's feature names, from the first "flags" line.
std::vector<std::string> processor_flags(const Patient& patient) {
  const auto text = read_text(patient, "/proc/cpuinfo");
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (auto line = next_line(rest)) {
    if (!line->starts_with("flags") && !line->starts_with("Features")) continue;
    std::string_view words = line->substr(std::min(line->find(':') + 1, line->size()));
    std::vector<std::string> flags;
    while (auto word = next_word(words)) flags.emplace_back(*word);
    return flags;
  }
  return {};
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

Finding examine_kernel(const Patient& patient) {
  Finding finding{"kernel", State::ok, read_text(patient, "/proc/sys/kernel/osrelease").value_or(""),
                  "processes are watched through pidfds (5.3) and descriptors closed at exec (5.11)", ""};
  std::string_view release = finding.value;
  const auto major = next_word(release, '.');
  const auto minor = next_word(release, '.');
  const int version =
      (major ? parse_number<int>(*major).value_or(0) : 0) * 1000 + (minor ? parse_number<int>(*minor).value_or(0) : 0);
  if (version < 5'003) {
    finding.state = finding.value.empty() ? State::missing : State::degraded;
    finding.remedy = "use Linux 5.11 or later";
  }
  return finding;
}

Finding examine_cores(const Patient& patient) {
  const auto topology = detect_topology(patient.files);
  if (!topology)
    return {"cores", State::missing, "", topology.error().message(), "install hwloc's data sources (/sys)"};
  Finding finding{"cores", State::ok, "", "", ""};
  finding.value =
      fmt::format("{} available: {}, {} package(s), {} cores, {} hardware threads", topology->available_cores,
                  topology->cpu_model, topology->packages, topology->physical_cores, topology->logical_processors);
  if (topology->quota_cores) finding.value += fmt::format(", control group quota {:.2f}", *topology->quota_cores);
  finding.meaning =
      fmt::format("trials share {} core(s): min(affinity, control group quota)", topology->available_cores);
  if (topology->available_cores == 1) {
    finding.state = State::degraded;
    finding.meaning += "; there are no thread or replica counts to tune";
  }
  if (topology->available_cores < topology->logical_processors) {
    finding.state = State::degraded;
    finding.remedy = "raise the quota (cpu.max) or the affinity (taskset) of this process";
  }
  return finding;
}

Finding examine_numa(const Patient& patient) {
  const auto topology = detect_topology(patient.files);
  const int nodes = topology ? topology->numa_nodes : 1;
  return {"numa", State::ok, fmt::format("{} node(s)", nodes),
          nodes == 1 ? "all memory is equally near" : "a trial whose cores lie on two nodes pays for far memory", ""};
}

Finding examine_memory(const Patient& patient) {
  const auto topology = detect_topology(patient.files);
  const std::int64_t bytes = topology ? topology->memory_limit_bytes : 0;
  Finding finding{"memory", State::ok, format_byte_size(bytes), "shared by all trials; one that runs out fails alone",
                  ""};
  if (bytes < kMinimumMemoryBytes) {
    finding.state = State::degraded;
    finding.remedy = fmt::format("give this process {} or more (memory.max)", format_byte_size(kMinimumMemoryBytes));
  }
  return finding;
}

Finding examine_cgroups(const Patient& patient) {
  const auto memory = find_controller(patient.files, "memory");
  if (memory.version == CgroupVersion::none) {
    return {"cgroups", State::missing, "no memory controller",
            "a trial's memory limit is kept by watching its resident bytes", "mount cgroup2 at /sys/fs/cgroup"};
  }
  const bool writable = patient.files.is_writable(memory.directory);
  Finding finding{
      "cgroups", State::ok,
      fmt::format("{}, {} at {}", to_string(memory.version), writable ? "writable" : "not writable", memory.directory),
      "the kernel can hold each trial to its memory limit", ""};
  if (!writable) {
    finding.state = State::degraded;
    finding.meaning = "a trial's memory limit is kept by watching its resident bytes";
    finding.remedy = "delegate the group: systemd-run --user --scope -p Delegate=yes tandem …";
  }
  return finding;
}

Finding examine_counters(const Patient& patient) {
  std::vector<std::string> hardware, software;
  for (const auto& event : probe_events()) {
    if (event.available) (event.hardware ? hardware : software).push_back(event.name);
  }
  const auto paranoid = read_number<int>(patient.files, "/proc/sys/kernel/perf_event_paranoid");
  const std::string level = paranoid ? std::to_string(*paranoid) : "unknown";
  if (!hardware.empty()) {
    return {"hardware counters", State::ok, fmt::format("{}", fmt::join(hardware, ", ")),
            "profiles of trials hold hardware events", ""};
  }
  const bool forbidden = software.empty();
  return {"hardware counters", forbidden ? State::missing : State::degraded,
          forbidden ? fmt::format("none (perf_event_paranoid = {})", level)
                    : fmt::format("software only: {}", fmt::join(software, ", ")),
          "profiles of trials rest on rusage, scheduler and model features",
          forbidden ? "sysctl kernel.perf_event_paranoid=1" : "run on bare metal, or give the virtual machine a PMU"};
}

Finding examine_energy(const Patient& patient) {
  const EnergyMeter meter(patient.files, patient.clock, [] { return 0.0; });
  if (meter.source() == EnergySource::measured) {
    return {"energy (RAPL)", State::ok, "measured", "joules are those of whole processor packages", ""};
  }
  const bool present = patient.files.exists("/sys/class/powercap/intel-rapl:0");
  const EnergyModel model;
  return {"energy (RAPL)", present ? State::degraded : State::missing, "estimated",
          fmt::format("joules are {:g} W × seconds + {:g} W × CPU seconds: good for ranking, no measurement",
                      model.idle_watts, model.active_watts_per_core),
          present ? "chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj" : "run on bare metal with RAPL"};
}

Finding examine_huge_pages(const Patient& patient) {
  const auto text = read_text(patient, "/sys/kernel/mm/transparent_hugepage/enabled");
  if (!text)
    return {"huge pages", State::missing, "", "large blocks are faulted in 4 KiB at a time", "use a kernel with THP"};
  const auto open = text->find('[');
  const auto close = text->find(']');
  const std::string mode =
      open < close && close != std::string::npos ? text->substr(open + 1, close - open - 1) : *text;
  Finding finding{"huge pages", State::ok, mode, "blocks that ask for huge pages get them", ""};
  if (mode == "always") finding.meaning = "large blocks get huge pages unasked";
  if (mode == "never") {
    finding.state = State::degraded;
    finding.meaning = "large blocks are faulted in 4 KiB at a time";
    finding.remedy = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled";
  }
  return finding;
}

Finding examine_instructions(const Patient& patient) {
  const auto flags = processor_flags(patient);
  std::vector<std::string> found;
  for (const char* name : {"avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile", "asimd", "sve"}) {
    if (contains(flags, name)) found.emplace_back(name);
  }
  const bool fast = contains(flags, "avx2") || contains(flags, "asimd");
  Finding finding{"instruction set", fast ? State::ok : State::degraded, fmt::format("{}", fmt::join(found, " ")),
                  fast ? "vector kernels run" : "kernels run without wide vectors, several times slower", ""};
  if (!fast) finding.remedy = "use a processor (or a virtual machine's CPU model) with AVX2";
  if (contains(flags, "hypervisor")) finding.meaning += "; this is a virtual machine";
  return finding;
}

Finding examine_page_faults(const Patient& patient) {
  const auto seconds = measure_page_fault_seconds(patient.clock);
  if (!seconds) return {"page fault", State::missing, "", seconds.error().message(), "raise the memory limit"};
  const bool dear = *seconds > kDearPageFaultSeconds;
  return {"page fault", dear ? State::degraded : State::ok, fmt::format("{:.2f} µs for 4 KiB", *seconds * 1e6),
          dear ? "fresh memory is dear: expect much of allocator = \"retain\" and of small batches"
               : "fresh memory is cheap: expect little of allocator = \"retain\"",
          dear ? "keep \"retain\" among the allocators of [system]" : ""};
}

Finding examine_allocator(const Patient& patient) {
  std::vector<std::string> set;
  for (const auto& [name, value] : patient.environment) {
    const bool preload = name == "LD_PRELOAD" && value.find("malloc") != std::string::npos;
    if (preload || name.starts_with("MALLOC_") || name == "GLIBC_TUNABLES") set.push_back(name + "=" + value);
  }
  if (set.empty()) return {"allocator", State::ok, "the C library's", "\"default\" means what it does elsewhere", ""};
  return {"allocator", State::degraded, fmt::format("{}", fmt::join(set, " ")),
          "\"default\" is not the C library's own, and results are not those of other hosts",
          "unset it, or keep it and know"};
}

/// The soft limit in a line of /proc/self/limits: "Max open files    1024    4096    files".
std::optional<std::int64_t> soft_limit(const Patient& patient, std::string_view name) {
  const auto text = read_text(patient, "/proc/self/limits");
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (auto line = next_line(rest)) {
    if (!line->starts_with(name)) continue;
    std::string_view words = line->substr(name.size());
    const auto word = next_word(words);
    if (word && *word == "unlimited") return INT64_MAX;
    return word ? parse_number<std::int64_t>(*word) : std::nullopt;
  }
  return std::nullopt;
}

Finding limit_finding(std::string name, std::optional<std::int64_t> limit, std::int64_t minimum, std::string meaning,
                      std::string remedy) {
  if (!limit) return {std::move(name), State::missing, "unknown", std::move(meaning), "mount /proc"};
  const std::string value = *limit == INT64_MAX ? "unlimited" : std::to_string(*limit);
  if (*limit >= minimum) return {std::move(name), State::ok, value, std::move(meaning), ""};
  return {std::move(name), State::degraded, value, std::move(meaning), std::move(remedy)};
}

Finding examine_open_files(const Patient& patient) {
  return limit_finding("open files", soft_limit(patient, "Max open files"), kMinimumOpenFiles,
                       "each trial host needs some tens of descriptors, each connection one",
                       fmt::format("ulimit -n {}", kMinimumOpenFiles));
}

Finding examine_processes(const Patient& patient) {
  auto limit = soft_limit(patient, "Max processes");
  const auto pids = find_controller(patient.files, "pids");
  const auto group = read_number<std::int64_t>(patient.files, pids.directory + "/pids.max");
  if (limit && group) limit = std::min(*limit, *group);
  return limit_finding("processes", limit, kMinimumProcesses, "threads count too: each trial host has about ten",
                       fmt::format("ulimit -u {}, and pids.max of the control group", kMinimumProcesses));
}

Finding examine_clock_source(const Patient& patient) {
  const auto source = read_text(patient, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const bool fast = source && (*source == "tsc" || *source == "kvm-clock" || *source == "arch_sys_counter" ||
                               *source == "hyperv_clocksource_tsc_page");
  return {"clock source", fast ? State::ok : State::degraded, source.value_or("unknown"),
          fast ? "steps are timed without a system call" : "each reading of the time may cost a microsecond",
          fast ? "" : "boot with clocksource=tsc if the processor's is stable"};
}

/// Where shared libraries lie, most particular first.
std::vector<std::string> library_directories(const Patient& patient) {
  std::vector<std::string> directories;
  if (const auto path = patient.environment.find("LD_LIBRARY_PATH"); path != patient.environment.end()) {
    std::string_view rest = path->second;
    while (auto directory = next_word(rest, ':')) directories.emplace_back(*directory);
  }
  for (const char* directory :
       {"/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"}) {
    directories.emplace_back(directory);
  }
  return directories;
}

/// "2.6" for libdnnl.so.2.6: of the names "<stem>.so.<version>" in the first directory with any, the longest version.
std::optional<std::string> library_version(const Patient& patient, const std::string& stem) {
  for (const auto& directory : library_directories(patient)) {
    const auto names = patient.files.list(directory);
    if (!names) continue;
    std::optional<std::string> version;
    for (const auto& name : *names) {
      if (name == stem + ".so" && !version) version = "unversioned";
      if (!name.starts_with(stem + ".so.")) continue;
      const std::string found = name.substr(stem.size() + 4);
      if (!version || *version == "unversioned" || found.size() > version->size()) version = found;
    }
    if (version) return version;
  }
  return std::nullopt;
}

Finding library_finding(const Patient& patient, std::string name, const std::string& stem, std::string use,
                        const std::string& package) {
  const auto version = library_version(patient, stem);
  if (version) return {std::move(name), State::ok, *version, std::move(use), ""};
  return {std::move(name), State::missing, fmt::format("no {}.so", stem), std::move(use), "apt-get install " + package};
}

Finding examine_torch(const Patient& patient) {
  return library_finding(patient, "LibTorch", "libtorch_cpu", "the built-in workloads train with it", "libtorch-dev");
}
Finding examine_onednn(const Patient& patient) {
  return library_finding(patient, "oneDNN", "libdnnl", "LibTorch's convolutions run on it", "libdnnl-dev");
}
Finding examine_gloo(const Patient& patient) {
  return library_finding(patient, "Gloo", "libgloo", "collectives between processes run on it", "libgloo-dev");
}
Finding examine_openblas(const Patient& patient) {
  return library_finding(patient, "OpenBLAS", "libopenblas", "matrix products run on it", "libopenblas-dev");
}

Finding examine_environment(const Patient& patient) {
  constexpr std::array kSlowing = {"OPENBLAS_CORETYPE",  "ATEN_CPU_CAPABILITY", "DNNL_MAX_CPU_ISA",
                                   "MKL_DEBUG_CPU_TYPE", "OMP_NUM_THREADS",     "OMP_PROC_BIND",
                                   "OMP_PLACES",         "GOMP_CPU_AFFINITY",   "KMP_AFFINITY",
                                   "KMP_BLOCKTIME",      "LD_BIND_NOW",         "OPENBLAS_NUM_THREADS"};
  std::vector<std::string> set;
  for (const char* name : kSlowing) {
    const auto found = patient.environment.find(name);
    if (found != patient.environment.end()) set.push_back(fmt::format("{}={}", name, found->second));
  }
  const auto policy = patient.environment.find("OMP_WAIT_POLICY");
  if (policy != patient.environment.end() && policy->second != "passive" && policy->second != "PASSIVE") {
    set.push_back("OMP_WAIT_POLICY=" + policy->second);
  }
  if (set.empty())
    return {"environment", State::ok, "clean", "no variable chooses kernels or threads behind our back", ""};
  return {"environment", State::degraded, fmt::format("{}", fmt::join(set, " ")),
          "these choose kernels, threads or bindings before Tandem does, and may slow training",
          "unset them unless they are meant; results say that they were set"};
}

}  // namespace

std::string_view to_string(Finding::State state) noexcept {
  switch (state) {
    case State::ok:
      return "ok";
    case State::degraded:
      return "degraded";
    case State::missing:
      return "missing";
  }
  return "missing";
}

std::vector<Finding> examine(const Patient& patient) {
  constexpr std::array kExaminations = {
      examine_kernel,    examine_cores,      examine_numa,       examine_memory,       examine_cgroups,
      examine_counters,  examine_energy,     examine_huge_pages, examine_instructions, examine_page_faults,
      examine_allocator, examine_open_files, examine_processes,  examine_clock_source, examine_torch,
      examine_onednn,    examine_gloo,       examine_openblas,   examine_environment};
  std::vector<Finding> findings;
  for (const auto& examination : kExaminations) findings.push_back(examination(patient));
  return findings;
}

}  // namespace tandem::tools
