#include "runtime/host/topology.hpp"

#include <hwloc.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "runtime/host/affinity.hpp"
#include "runtime/host/cgroup.hpp"
#include "runtime/host/system_files.hpp"

namespace tandem::runtime {

namespace {

struct TopologyDeleter {
  void operator()(hwloc_topology* topology) const noexcept { hwloc_topology_destroy(topology); }
};
using Hwloc = std::unique_ptr<hwloc_topology, TopologyDeleter>;

Hwloc load_hwloc(const FileSystem& files) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  // Without /sys, as in a bare chroot, hwloc's Linux part complains on stderr and then counts processors all the same.
  if (!files.is_directory("/sys/devices/system/cpu")) {
    hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "linux");
  }
  Hwloc topology(raw);
  // All of the machine, not only what this process may use: affinity is looked at apart.
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (hwloc_topology_load(raw) != 0) return nullptr;
  return topology;
}

int count_of(hwloc_topology_t topology, hwloc_obj_type_t type) {
  return std::max(hwloc_get_nbobjs_by_type(topology, type), 1);
}

std::int64_t cache_bytes(hwloc_topology_t topology, hwloc_obj_type_t type) {
  const hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
  return cache != nullptr ? static_cast<std::int64_t>(cache->attr->cache.size) : 0;
}

/// One hardware thread of each physical core, then the second ones, and so on: the first n are the best n to lease.
std::vector<int> spread_over_cores(hwloc_topology_t topology, const std::vector<int>& allowed) {
  std::vector<std::pair<int, int>> ranked;  // rank among the core's allowed threads, processor
  std::vector<std::pair<unsigned, int>> used;
  for (const int processor : allowed) {
    const hwloc_obj_t thread = hwloc_get_pu_obj_by_os_index(topology, static_cast<unsigned>(processor));
    const hwloc_obj_t core = thread ? hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, thread) : nullptr;
    if (core == nullptr) {
      ranked.emplace_back(0, processor);
      continue;
    }
    auto known =
        std::find_if(used.begin(), used.end(), [&](const auto& entry) { return entry.first == core->logical_index; });
    if (known == used.end()) known = used.insert(used.end(), {core->logical_index, 0});
    ranked.emplace_back(known->second++, processor);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<int> processors;
  for (const auto& [rank, processor] : ranked) processors.push_back(processor);
  return processors;
}

std::string cpu_model(const FileSystem& files) {
  const auto text = files.read_file("/proc/cpuinfo", limits::kSystemFileBytes);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (auto line = next_line(rest)) {
    if (!line->starts_with("model name") && !line->starts_with("Model")) continue;
    const auto colon = line->find(':');
    if (colon != std::string_view::npos) return std::string(trimmed(line->substr(colon + 1)));
  }
  return "unknown";
}

}  // namespace

std::string Topology::host_class() const { return fmt::format("{}/{}", cpu_model, available_cores); }

Result<Topology> detect_topology(const FileSystem& files) {
  auto allowed = thread_affinity();
  if (!allowed) return forward_error(allowed, "topology");
  const Hwloc hwloc = load_hwloc(files);
  if (!hwloc) return fail(ErrorCode::unavailable, "topology: hwloc cannot read this machine's");

  Topology topology;
  topology.packages = count_of(hwloc.get(), HWLOC_OBJ_PACKAGE);
  topology.numa_nodes = count_of(hwloc.get(), HWLOC_OBJ_NUMANODE);
  topology.physical_cores = count_of(hwloc.get(), HWLOC_OBJ_CORE);
  topology.logical_processors = count_of(hwloc.get(), HWLOC_OBJ_PU);
  topology.l1d_bytes = cache_bytes(hwloc.get(), HWLOC_OBJ_L1CACHE);
  topology.l2_bytes = cache_bytes(hwloc.get(), HWLOC_OBJ_L2CACHE);
  topology.l3_bytes = cache_bytes(hwloc.get(), HWLOC_OBJ_L3CACHE);
  topology.cpu_model = cpu_model(files);
  topology.processors = spread_over_cores(hwloc.get(), *allowed);

  const int processors = static_cast<int>(topology.processors.size());
  topology.quota_cores = cpu_quota_cores(files, find_controller(files, "cpu"));
  const int quota = topology.quota_cores ? std::max(static_cast<int>(*topology.quota_cores), 1) : processors;
  topology.available_cores = std::max(std::min(processors, quota), 1);

  const std::int64_t total_kib = read_keyed_number(files, "/proc/meminfo", "MemTotal").value_or(0);
  topology.physical_memory_bytes = total_kib * 1024;
  const auto limit = memory_limit_bytes(files, find_controller(files, "memory"));
  topology.memory_limit_bytes =
      std::min(limit.value_or(topology.physical_memory_bytes), topology.physical_memory_bytes);
  return topology;
}

}  // namespace tandem::runtime
