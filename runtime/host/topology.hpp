/// Topology: what this machine is, and how much of it this process may use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/file_system.hpp"
#include "runtime/base/result.hpp"

namespace tandem::runtime {

struct Topology {
  int packages = 1;
  int numa_nodes = 1;
  int physical_cores = 1;
  int logical_processors = 1;
  std::int64_t l1d_bytes = 0;  ///< of one cache; 0: unknown
  std::int64_t l2_bytes = 0;
  std::int64_t l3_bytes = 0;
  std::string cpu_model;              ///< "AMD EPYC"; "unknown" if the kernel does not tell
  std::vector<int> processors;        ///< this process may run on; one of each physical core first
  std::optional<double> quota_cores;  ///< of the control group; nullopt: none
  int available_cores = 1;            ///< min(processors, whole cores of the quota), at least 1
  std::int64_t physical_memory_bytes = 0;
  std::int64_t memory_limit_bytes = 0;  ///< min(physical, control group)

  /// What results on this host may be compared by: "AMD EPYC/2".
  [[nodiscard]] std::string host_class() const;
};

/// Looks at the machine now; a later change of affinity or quota is not followed.
[[nodiscard]] Result<Topology> detect_topology(const FileSystem& files);

}  // namespace tandem::runtime
