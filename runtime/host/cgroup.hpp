/// Control groups: where this process stands in them, and the limits they put on it (versions 1, 2 and mixed).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/file_system.hpp"

namespace tandem::runtime {

/// Version 1 has a hierarchy for each controller, version 2 one for all.
enum class CgroupVersion { none, v1, v2 };
[[nodiscard]] std::string_view to_string(CgroupVersion version) noexcept;

/// One controller as this process sees it.
struct CgroupController {
  CgroupVersion version = CgroupVersion::none;
  std::string mount;      ///< e.g. /sys/fs/cgroup/memory
  std::string directory;  ///< of this process's group, at or below `mount`
};

/// Finds `controller` ("cpu", "memory") for `pid` ("self", "4711").
[[nodiscard]] CgroupController find_controller(const FileSystem& files, std::string_view controller,
                                               std::string_view pid = "self");

/// The tightest CPU quota from the group up to the mount, in cores; nullopt: unlimited.
[[nodiscard]] std::optional<double> cpu_quota_cores(const FileSystem& files, const CgroupController& cpu);

/// The tightest memory limit from the group up to the mount; nullopt: unlimited.
[[nodiscard]] std::optional<std::int64_t> memory_limit_bytes(const FileSystem& files, const CgroupController& memory);

/// How many processes of the group the kernel has killed for want of memory so far; nullopt: not told.
[[nodiscard]] std::optional<std::int64_t> out_of_memory_kills(const FileSystem& files, const CgroupController& memory);

}  // namespace tandem::runtime
