#include <cerrno>
#include <utility>

#include "runtime/base/file_system.hpp"

namespace tandem {

namespace {

tl::unexpected<Error> system_failure(const std::string& path, int error_number) {
  return tl::unexpected<Error>(system_error(path, error_number));
}

/// Without a trailing '/', so that a directory has one spelling.
std::string plain(const std::string& path) {
  std::string result = path;
  while (result.size() > 1 && result.back() == '/') result.pop_back();
  return result;
}

std::string parent_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos) return {};
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string below(const std::string& directory) { return directory == "/" ? directory : directory + "/"; }

}  // namespace

MemoryFileSystem::MemoryFileSystem() { nodes_.emplace("/", std::nullopt); }

void MemoryFileSystem::set_capacity_bytes(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  capacity_bytes_ = bytes;
}

void MemoryFileSystem::deny_access(const std::string& path) {
  const std::lock_guard lock(mutex_);
  unreadable_.push_back(plain(path));
  unwritable_.push_back(plain(path));
}

void MemoryFileSystem::deny_writing(const std::string& path) {
  const std::lock_guard lock(mutex_);
  unwritable_.push_back(plain(path));
}

void MemoryFileSystem::fail_next_writes(int count, Error error) {
  const std::lock_guard lock(mutex_);
  failing_writes_ = count;
  write_error_ = std::move(error);
}

void MemoryFileSystem::seed(const std::string& path, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  make_parents(plain(path));
  nodes_[plain(path)] = std::string(bytes);
}

bool MemoryFileSystem::denied(const std::vector<std::string>& trees, const std::string& path) const {
  for (const auto& tree : trees) {
    if (path == tree || path.starts_with(below(tree))) return true;
  }
  return false;
}

Result<> MemoryFileSystem::check_readable(const std::string& path) const {
  if (denied(unreadable_, path)) return system_failure(path, EACCES);
  return {};
}

Result<> MemoryFileSystem::check_writable(const std::string& path) {
  if (denied(unwritable_, path)) return system_failure(path, EACCES);
  if (failing_writes_ > 0) {
    --failing_writes_;
    return tl::unexpected<Error>(write_error_->within(path));
  }
  return {};
}

Result<> MemoryFileSystem::store(const std::string& path, std::string bytes) {
  const std::string parent = parent_of(path);
  if (!parent.empty()) {
    const auto directory = nodes_.find(parent);
    if (directory == nodes_.end()) return system_failure(path, ENOENT);
    if (directory->second) return system_failure(path, ENOTDIR);
  }
  std::uint64_t total_bytes = bytes.size();
  for (const auto& [name, node] : nodes_) {
    if (node && name != path) total_bytes += node->size();
  }
  if (total_bytes > capacity_bytes_) return system_failure(path, ENOSPC);
  auto& node = nodes_.try_emplace(path, std::string()).first->second;
  if (!node) return system_failure(path, EISDIR);
  node = std::move(bytes);
  return {};
}

bool MemoryFileSystem::has_children(const std::string& path) const {
  const std::string prefix = below(path);
  const auto next = nodes_.upper_bound(prefix);
  return next != nodes_.end() && next->first.starts_with(prefix);
}

void MemoryFileSystem::make_parents(const std::string& path) {
  for (std::string parent = parent_of(path); !parent.empty() && !nodes_.contains(parent); parent = parent_of(parent)) {
    nodes_.emplace(parent, std::nullopt);
  }
}

Result<std::string> MemoryFileSystem::read_file(const std::string& path, std::size_t limit_bytes) const {
  const std::lock_guard lock(mutex_);
  const std::string name = plain(path);
  if (auto allowed = check_readable(name); !allowed) return forward_error(allowed);
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return system_failure(name, ENOENT);
  if (!found->second) return system_failure(name, EISDIR);
  if (found->second->size() > limit_bytes) {
    return fail(ErrorCode::resource_exhausted, "{}: larger than the {} bytes allowed", name, limit_bytes);
  }
  return *found->second;
}

Result<> MemoryFileSystem::write_file_atomic(const std::string& path, std::string_view bytes, Durability, unsigned) {
  const std::lock_guard lock(mutex_);
  const std::string name = plain(path);
  if (auto allowed = check_writable(name); !allowed) return allowed;
  return store(name, std::string(bytes));
}

Result<> MemoryFileSystem::write_in_place(const std::string& path, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  const std::string name = plain(path);
  if (auto allowed = check_writable(name); !allowed) return allowed;
  if (!nodes_.contains(name)) return system_failure(name, ENOENT);
  return store(name, std::string(bytes));
}

Result<> MemoryFileSystem::append(const std::string& path, std::string_view bytes, Durability, unsigned) {
  const std::lock_guard lock(mutex_);
  const std::string name = plain(path);
  if (auto allowed = check_writable(name); !allowed) return allowed;
  const auto found = nodes_.find(name);
  std::string whole = found != nodes_.end() && found->second ? *found->second : std::string();
  whole += bytes;
  return store(name, std::move(whole));
}

bool MemoryFileSystem::exists(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  return check_readable(plain(path)) && nodes_.contains(plain(path));
}

bool MemoryFileSystem::is_directory(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(plain(path));
  return check_readable(plain(path)) && found != nodes_.end() && !found->second;
}

bool MemoryFileSystem::is_writable(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  return !denied(unwritable_, plain(path)) && nodes_.contains(plain(path));
}

Result<std::uint64_t> MemoryFileSystem::file_size(const std::string& path) const {
  auto bytes = read_file(path, SIZE_MAX);
  if (!bytes) return forward_error(bytes);
  return bytes->size();
}

Result<std::vector<std::string>> MemoryFileSystem::list(const std::string& directory) const {
  const std::lock_guard lock(mutex_);
  const std::string name = plain(directory);
  if (auto allowed = check_readable(name); !allowed) return forward_error(allowed);
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return system_failure(name, ENOENT);
  if (found->second) return system_failure(name, ENOTDIR);
  const std::string prefix = below(name);
  std::vector<std::string> names;
  for (auto at = nodes_.upper_bound(prefix); at != nodes_.end() && at->first.starts_with(prefix); ++at) {
    std::string child = at->first.substr(prefix.size());
    if (child.find('/') == std::string::npos) names.push_back(std::move(child));
  }
  return names;
}

Result<> MemoryFileSystem::remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const std::string name = plain(path);
  if (auto allowed = check_writable(name); !allowed) return allowed;
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return system_failure(name, ENOENT);
  if (!found->second && has_children(name)) return system_failure(name, ENOTEMPTY);
  nodes_.erase(found);
  return {};
}

Result<> MemoryFileSystem::rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  const std::string source = plain(from);
  const std::string target = plain(to);
  if (auto allowed = check_writable(source); !allowed) return allowed;
  if (denied(unwritable_, target)) return system_failure(target, EACCES);
  const auto found = nodes_.find(source);
  if (found == nodes_.end()) return system_failure(source, ENOENT);
  const std::string parent = parent_of(target);
  if (!parent.empty() && !nodes_.contains(parent)) return system_failure(target, ENOENT);
  if (source == target) return {};
  if (has_children(target)) return system_failure(target, ENOTEMPTY);
  if (!found->second && target.starts_with(below(source))) return system_failure(target, EINVAL);

  std::map<std::string, Node> moved;
  const std::string prefix = below(source);
  for (auto at = nodes_.begin(); at != nodes_.end();) {
    if (at->first == source || at->first.starts_with(prefix)) {
      moved.emplace(target + at->first.substr(source.size()), std::move(at->second));
      at = nodes_.erase(at);
    } else {
      ++at;
    }
  }
  for (auto& [name, node] : moved) nodes_.insert_or_assign(name, std::move(node));
  return {};
}

Result<> MemoryFileSystem::make_directories(const std::string& path, unsigned) {
  const std::lock_guard lock(mutex_);
  const std::string name = plain(path);
  for (std::string step = name; !step.empty(); step = parent_of(step)) {
    const auto found = nodes_.find(step);
    if (found == nodes_.end()) continue;
    if (found->second) return system_failure(step, ENOTDIR);
    if (step == name) return {};
    break;
  }
  if (auto allowed = check_writable(name); !allowed) return allowed;
  make_parents(name);
  nodes_.emplace(name, std::nullopt);
  return {};
}

std::string MemoryFileSystem::temporary_name(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return fmt::format("{}.tmp-0-{}", plain(path), temporary_count_++);
}

}  // namespace tandem
