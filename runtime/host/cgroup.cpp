#include "runtime/host/cgroup.hpp"

#include <algorithm>

#include "runtime/host/system_files.hpp"

namespace tandem::runtime {

namespace {

/// Version 1 writes "no limit" as the largest multiple of a page.
constexpr std::int64_t kUnlimitedBytes = std::int64_t{1} << 60;

bool lists(std::string_view words, std::string_view wanted) {
  while (auto word = next_word(words, ',')) {
    if (*word == wanted) return true;
  }
  return false;
}

/// The group's path, from a line "7:cpu,cpuacct:/path" (version 1) or "0::/path" (version 2).
std::optional<std::string> group_path(std::string_view text, std::string_view controller, CgroupVersion version) {
  while (auto line = next_line(text)) {
    const auto first = line->find(':');
    const auto second = first == std::string_view::npos ? first : line->find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view names = line->substr(first + 1, second - first - 1);
    if (version == CgroupVersion::v2 ? names.empty() : lists(names, controller)) {
      return std::string(line->substr(second + 1));
    }
  }
  return std::nullopt;
}

struct Mount {
  std::string root;  ///< the part of the hierarchy that is mounted
  std::string point;
};

/// From lines "id parent major:minor root point options … - type source super-options".
std::optional<Mount> find_mount(std::string_view text, std::string_view controller, CgroupVersion version) {
  while (auto line = next_line(text)) {
    const auto dash = line->find(" - ");
    if (dash == std::string_view::npos) continue;
    std::string_view right = line->substr(dash + 3);
    const auto type = next_word(right);
    (void)next_word(right);
    const auto options = next_word(right);
    const std::string_view wanted = version == CgroupVersion::v2 ? "cgroup2" : "cgroup";
    if (!type || *type != wanted) continue;
    if (version == CgroupVersion::v1 && (!options || !lists(*options, controller))) continue;
    std::string_view left = line->substr(0, dash);
    for (int field = 0; field < 3; ++field) (void)next_word(left);
    const auto root = next_word(left);
    const auto point = next_word(left);
    if (root && point) return Mount{std::string(*root), std::string(*point)};
  }
  return std::nullopt;
}

std::string group_directory(const FileSystem& files, const Mount& mount, std::string path) {
  // A container may see only a part of the hierarchy, and still its path from the top.
  if (mount.root != "/" && path.starts_with(mount.root)) path.erase(0, mount.root.size());
  const std::string directory = path.empty() || path == "/" ? mount.point : mount.point + path;
  return files.exists(directory) ? directory : mount.point;
}

/// Calls `visit(directory)` from the group up to the mount: limits hold for all below them.
template <class Visit>
void for_each_ancestor(const CgroupController& controller, Visit visit) {
  std::string directory = controller.directory;
  while (directory.size() >= controller.mount.size()) {
    visit(directory);
    if (directory.size() == controller.mount.size()) return;
    directory.resize(directory.find_last_of('/'));
  }
}

std::optional<double> quota_of(const FileSystem& files, const std::string& directory, CgroupVersion version) {
  std::optional<double> quota, period;
  if (version == CgroupVersion::v1) {
    quota = read_number<double>(files, directory + "/cpu.cfs_quota_us");
    period = read_number<double>(files, directory + "/cpu.cfs_period_us");
  } else if (const auto text = files.read_file(directory + "/cpu.max", limits::kSystemFileBytes)) {
    std::string_view words = *text;
    if (const auto word = next_word(words)) quota = parse_number<double>(*word);  // "max" is none
    if (const auto word = next_word(words)) period = parse_number<double>(*word);
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

}  // namespace

std::string_view to_string(CgroupVersion version) noexcept {
  switch (version) {
    case CgroupVersion::none:
      return "none";
    case CgroupVersion::v1:
      return "v1";
    case CgroupVersion::v2:
      return "v2";
  }
  return "none";
}

CgroupController find_controller(const FileSystem& files, std::string_view controller, std::string_view pid) {
  const auto groups = files.read_file(fmt::format("/proc/{}/cgroup", pid), limits::kSystemFileBytes);
  const auto mounts = files.read_file("/proc/self/mountinfo", limits::kSystemFileBytes);
  if (!groups || !mounts) return {};
  // A mixed host has both; a controller bound to a version 1 hierarchy is absent from version 2.
  for (const CgroupVersion version : {CgroupVersion::v1, CgroupVersion::v2}) {
    auto path = group_path(*groups, controller, version);
    const auto mount = find_mount(*mounts, controller, version);
    if (!path || !mount) continue;
    if (version == CgroupVersion::v2) {
      const auto offered = files.read_file(mount->point + "/cgroup.controllers", limits::kSystemFileBytes);
      std::string list = offered ? std::string(trimmed(*offered)) : std::string();
      std::replace(list.begin(), list.end(), ' ', ',');
      if (!lists(list, controller)) continue;
    }
    return {version, mount->point, group_directory(files, *mount, std::move(*path))};
  }
  return {};
}

std::optional<double> cpu_quota_cores(const FileSystem& files, const CgroupController& cpu) {
  std::optional<double> tightest;
  if (cpu.version == CgroupVersion::none) return tightest;
  for_each_ancestor(cpu, [&](const std::string& directory) {
    const auto quota = quota_of(files, directory, cpu.version);
    if (quota && (!tightest || *quota < *tightest)) tightest = quota;
  });
  return tightest;
}

std::optional<std::int64_t> memory_limit_bytes(const FileSystem& files, const CgroupController& memory) {
  std::optional<std::int64_t> tightest;
  if (memory.version == CgroupVersion::none) return tightest;
  const char* file = memory.version == CgroupVersion::v1 ? "/memory.limit_in_bytes" : "/memory.max";
  for_each_ancestor(memory, [&](const std::string& directory) {
    const auto limit = read_number<std::int64_t>(files, directory + file);
    if (limit && *limit < kUnlimitedBytes && (!tightest || *limit < *tightest)) tightest = limit;
  });
  return tightest;
}

std::optional<std::int64_t> out_of_memory_kills(const FileSystem& files, const CgroupController& memory) {
  if (memory.version == CgroupVersion::none) return std::nullopt;
  const char* file = memory.version == CgroupVersion::v1 ? "/memory.oom_control" : "/memory.events";
  return read_keyed_number(files, memory.directory + file, "oom_kill");
}

}  // namespace tandem::runtime
