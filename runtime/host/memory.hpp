/// Memory: what a page fault costs here, how much a process holds, and limits on it that end one trial and no more.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/base/clock.hpp"
#include "runtime/base/file_system.hpp"
#include "runtime/base/process_launcher.hpp"
#include "runtime/base/result.hpp"
#include "runtime/host/cgroup.hpp"

namespace tandem::runtime {

/// Mean seconds to touch one fresh page of `pages`; the allocator's gain rests on it. Small pages only.
[[nodiscard]] Result<double> measure_page_fault_seconds(const Clock& clock, int pages = 2048);

/// Resident bytes of a process; not_found when it has ended.
[[nodiscard]] Result<std::int64_t> resident_bytes(const FileSystem& files, int pid);

/// Resident bytes of all processes of a group, shared pages counted in each.
[[nodiscard]] Result<std::int64_t> group_resident_bytes(const FileSystem& files, int process_group);

/// A control group below this process's own, with a memory limit; removed with the object once it is empty. Version 1
/// counts kills in it here only, not in the group above that OutOfMemoryWatch looks at.
class MemoryGroup {
 public:
  /// permission_denied or failed_precondition where the host does not let us: then watch `group_resident_bytes`.
  [[nodiscard]] static Result<MemoryGroup> create(FileSystem& files, const std::string& name, std::int64_t limit_bytes);
  ~MemoryGroup();
  MemoryGroup(MemoryGroup&& other) noexcept;
  MemoryGroup& operator=(MemoryGroup&& other) = delete;

  /// "tandem-OWNER-CHILD", for `remove_stale`.
  [[nodiscard]] static std::string name_for(int owner_pid, int child_pid);
  /// Removes groups named by `name_for` whose owner has died without its destructors.
  static void remove_stale(FileSystem& files);

  /// Moves a process, and with it all it will fork, into the group.
  Result<> add(int pid);
  /// Kills by the kernel for this group's limit so far.
  [[nodiscard]] std::int64_t out_of_memory_kills() const;
  [[nodiscard]] const std::string& directory() const noexcept { return controller_.directory; }

 private:
  MemoryGroup(FileSystem& files, CgroupController controller);
  FileSystem* files_;
  CgroupController controller_;
};

/// Tells, at the death of children by SIGKILL, whether the kernel's out-of-memory killer did it.
class OutOfMemoryWatch {
 public:
  explicit OutOfMemoryWatch(const FileSystem& files);
  /// Takes one kill off those counted since the last call that nobody has claimed.
  [[nodiscard]] bool claim_kill();

 private:
  [[nodiscard]] std::int64_t count() const;
  const FileSystem& files_;
  CgroupController memory_;
  std::int64_t claimed_ = 0;
};

}  // namespace tandem::runtime
