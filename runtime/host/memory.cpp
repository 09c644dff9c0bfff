#include "runtime/host/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "runtime/host/system_files.hpp"

namespace tandem::runtime {

namespace {

constexpr std::string_view kGroupPrefix = "tandem-";

std::int64_t page_bytes() noexcept { return ::sysconf(_SC_PAGESIZE); }

/// The process group in a /proc/<pid>/stat line: the third field after the bracketed name.
std::optional<int> group_of(std::string_view stat) {
  const auto bracket = stat.rfind(')');
  if (bracket == std::string_view::npos) return std::nullopt;
  stat.remove_prefix(bracket + 1);
  (void)next_word(stat);
  (void)next_word(stat);
  const auto group = next_word(stat);
  return group ? parse_number<int>(*group) : std::nullopt;
}

}  // namespace

Result<double> measure_page_fault_seconds(const Clock& clock, int pages) {
  if (pages < 1) return fail(ErrorCode::invalid_argument, "page faults: needs at least one page, not {}", pages);
  const auto bytes = static_cast<std::size_t>(pages * page_bytes());
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return tl::unexpected<Error>(system_error("page faults: mmap", errno));
  (void)::madvise(memory, bytes, MADV_NOHUGEPAGE);
  auto* page = static_cast<volatile char*>(memory);
  const MonotonicTime begin = clock.now();
  for (int i = 0; i < pages; ++i) page[i * page_bytes()] = 1;
  const MonotonicTime end = clock.now();
  ::munmap(memory, bytes);
  return to_seconds(end - begin) / pages;
}

Result<std::int64_t> resident_bytes(const FileSystem& files, int pid) {
  const std::string path = fmt::format("/proc/{}/statm", pid);
  const auto text = files.read_file(path, limits::kSystemFileBytes);
  if (!text) return forward_error(text);
  std::string_view words = *text;
  (void)next_word(words);
  const auto word = next_word(words);
  const auto pages = word ? parse_number<std::int64_t>(*word) : std::nullopt;
  if (!pages) return fail(ErrorCode::internal, "{}: has no resident size", path);
  return *pages * page_bytes();
}

Result<std::int64_t> group_resident_bytes(const FileSystem& files, int process_group) {
  const auto names = files.list("/proc");
  if (!names) return forward_error(names);
  std::int64_t total_bytes = 0;
  bool found = false;
  for (const auto& name : *names) {
    const auto pid = parse_number<int>(name);
    if (!pid) continue;
    const auto stat = files.read_file(fmt::format("/proc/{}/stat", *pid), limits::kSystemFileBytes);
    if (!stat || group_of(*stat) != process_group) continue;
    const auto bytes = resident_bytes(files, *pid);
    if (!bytes) continue;  // ended meanwhile
    total_bytes += *bytes;
    found = true;
  }
  if (!found) return fail(ErrorCode::not_found, "process group {}: has ended", process_group);
  return total_bytes;
}

MemoryGroup::MemoryGroup(FileSystem& files, CgroupController controller)
    : files_(&files), controller_(std::move(controller)) {}

Result<MemoryGroup> MemoryGroup::create(FileSystem& files, const std::string& name, std::int64_t limit_bytes) {
  CgroupController memory = find_controller(files, "memory");
  if (memory.version == CgroupVersion::none) {
    return fail(ErrorCode::failed_precondition, "memory group {}: no memory controller is mounted here", name);
  }
  memory.directory += "/" + name;
  if (auto made = files.make_directories(memory.directory); !made) return forward_error(made, "memory group");
  MemoryGroup group(files, memory);
  const char* file = memory.version == CgroupVersion::v1 ? "/memory.limit_in_bytes" : "/memory.max";
  const std::string path = memory.directory + file;
  // The file is missing where version 2 has not delegated the controller to the parent.
  if (!files.exists(path)) {
    return fail(ErrorCode::failed_precondition, "{}: the parent group does not pass the memory controller on", path);
  }
  if (auto limited = files.write_in_place(path, std::to_string(limit_bytes)); !limited) return forward_error(limited);
  return group;
}

std::string MemoryGroup::name_for(int owner_pid, int child_pid) {
  return fmt::format("{}{}-{}", kGroupPrefix, owner_pid, child_pid);
}

void MemoryGroup::remove_stale(FileSystem& files) {
  const CgroupController memory = find_controller(files, "memory");
  if (memory.version == CgroupVersion::none) return;
  const auto names = files.list(memory.directory);
  if (!names) return;
  for (const auto& name : *names) {
    if (!name.starts_with(kGroupPrefix)) continue;
    const std::string_view pids = std::string_view(name).substr(kGroupPrefix.size());
    const auto owner = parse_number<int>(pids.substr(0, pids.find('-')));
    if (!owner || files.exists(fmt::format("/proc/{}", *owner))) continue;
    (void)files.remove(memory.directory + "/" + name);  // stays while a process lives in it
  }
}

MemoryGroup::~MemoryGroup() {
  if (files_ != nullptr) (void)files_->remove(controller_.directory);
}

MemoryGroup::MemoryGroup(MemoryGroup&& other) noexcept
    : files_(std::exchange(other.files_, nullptr)), controller_(std::move(other.controller_)) {}

Result<> MemoryGroup::add(int pid) {
  return files_->write_in_place(controller_.directory + "/cgroup.procs", std::to_string(pid));
}

std::int64_t MemoryGroup::out_of_memory_kills() const {
  return runtime::out_of_memory_kills(*files_, controller_).value_or(0);
}

OutOfMemoryWatch::OutOfMemoryWatch(const FileSystem& files)
    : files_(files), memory_(find_controller(files, "memory")), claimed_(count()) {}

std::int64_t OutOfMemoryWatch::count() const {
  if (const auto group = out_of_memory_kills(files_, memory_)) return *group;
  return read_keyed_number(files_, "/proc/vmstat", "oom_kill").value_or(0);  // of the whole host
}

bool OutOfMemoryWatch::claim_kill() {
  if (count() <= claimed_) return false;
  ++claimed_;
  return true;
}

}  // namespace tandem::runtime
