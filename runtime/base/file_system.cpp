#include "runtime/base/file_system.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

namespace tandem {

namespace {

constexpr int kTemporaryNameAttempts = 100;

ErrorCode code_of(int error_number) noexcept {
  switch (error_number) {
    case ENOENT:
      return ErrorCode::not_found;
    case ESRCH:
      return ErrorCode::not_found;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::permission_denied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return ErrorCode::resource_exhausted;
    case EEXIST:
      return ErrorCode::already_exists;
    case EISDIR:
    case ENOTDIR:
    case ENOTEMPTY:
    case EBUSY:
      return ErrorCode::failed_precondition;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
      return ErrorCode::invalid_argument;
    default:
      return ErrorCode::unavailable;
  }
}

tl::unexpected<Error> system_failure(std::string_view path, int error_number) {
  return tl::unexpected<Error>(system_error(path, error_number));
}

/// Closes what it holds, once.
class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool valid() const noexcept { return fd_ >= 0; }
  /// Network file systems report a failed write only here.
  [[nodiscard]] bool close() noexcept {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0 || errno == EINTR;
  }

 private:
  int fd_;
};

int open_retrying(const std::string& path, int flags, unsigned mode = 0) {
  int fd;
  do fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  while (fd < 0 && errno == EINTR);
  return fd;
}

/// False with errno set.
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string parent_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// A name is durable only when its directory is.
Result<> sync_directory(const std::string& directory) {
  const Descriptor fd(open_retrying(directory, O_RDONLY | O_DIRECTORY));
  if (!fd.valid() || ::fsync(fd.get()) != 0) return system_failure(directory, errno);
  return {};
}

Result<> write_and_close(Descriptor& fd, const std::string& path, std::string_view bytes,
                         FileSystem::Durability durability) {
  if (!write_all(fd.get(), bytes)) return system_failure(path, errno);
  if (durability == FileSystem::Durability::power_loss && ::fsync(fd.get()) != 0) return system_failure(path, errno);
  if (!fd.close()) return system_failure(path, errno);
  return {};
}

}  // namespace

Error system_error(std::string_view path, int error_number) {
  std::string reason = std::generic_category().message(error_number);
  if (!reason.empty() && reason[0] >= 'A' && reason[0] <= 'Z') reason[0] = static_cast<char>(reason[0] - 'A' + 'a');
  return {code_of(error_number), fmt::format("{}: {}", path, reason)};
}

Result<std::string> PosixFileSystem::read_file(const std::string& path, std::size_t limit_bytes) const {
  const Descriptor fd(open_retrying(path, O_RDONLY));
  if (!fd.valid()) return system_failure(path, errno);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return system_failure(path, errno);
  if (S_ISDIR(status.st_mode)) return system_failure(path, EISDIR);

  // Files of /proc and /sys call themselves empty or a page long: the size is a hint, the end is what counts.
  std::string bytes;
  std::size_t filled = 0;
  const auto hint = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
  std::size_t room = std::clamp<std::size_t>(hint, 4096, std::max<std::size_t>(limit_bytes, 4096)) + 1;
  for (;;) {
    bytes.resize(room);
    const ssize_t count = ::read(fd.get(), bytes.data() + filled, bytes.size() - filled);
    if (count < 0) {
      if (errno == EINTR) continue;
      return system_failure(path, errno);
    }
    filled += static_cast<std::size_t>(count);
    if (filled > limit_bytes) {
      return fail(ErrorCode::resource_exhausted, "{}: larger than the {} bytes allowed", path, limit_bytes);
    }
    if (count == 0) break;
    if (filled == bytes.size()) room = bytes.size() * 2;
  }
  bytes.resize(filled);
  return bytes;
}

Result<> PosixFileSystem::write_file_atomic(const std::string& path, std::string_view bytes, Durability durability,
                                            unsigned mode) {
  std::string temporary;
  int fd = -1;
  for (int attempt = 0; fd < 0; ++attempt) {
    temporary = temporary_name(path);
    fd = open_retrying(temporary, O_WRONLY | O_CREAT | O_EXCL, mode);
    // A process with our pid may have crashed and left this name behind.
    if (fd < 0 && (errno != EEXIST || attempt >= kTemporaryNameAttempts)) return system_failure(path, errno);
  }
  Descriptor descriptor(fd);
  auto written = write_and_close(descriptor, path, bytes, durability);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) written = system_failure(path, errno);
  if (!written) {
    ::unlink(temporary.c_str());
    return written;
  }
  if (durability == Durability::power_loss) return sync_directory(parent_of(path));
  return {};
}

Result<> PosixFileSystem::write_in_place(const std::string& path, std::string_view bytes) {
  Descriptor fd(open_retrying(path, O_WRONLY));
  if (!fd.valid()) return system_failure(path, errno);
  return write_and_close(fd, path, bytes, Durability::process_crash);
}

Result<> PosixFileSystem::append(const std::string& path, std::string_view bytes, Durability durability,
                                 unsigned mode) {
  const bool fresh = durability == Durability::power_loss && !exists(path);
  Descriptor fd(open_retrying(path, O_WRONLY | O_CREAT | O_APPEND, mode));
  if (!fd.valid()) return system_failure(path, errno);
  if (auto written = write_and_close(fd, path, bytes, durability); !written) return written;
  return fresh ? sync_directory(parent_of(path)) : Result<>{};
}

bool PosixFileSystem::exists(const std::string& path) const {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

bool PosixFileSystem::is_directory(const std::string& path) const {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool PosixFileSystem::is_writable(const std::string& path) const {
  const int rights = is_directory(path) ? W_OK | X_OK : W_OK;
  return ::faccessat(AT_FDCWD, path.c_str(), rights, AT_EACCESS) == 0;
}

Result<std::uint64_t> PosixFileSystem::file_size(const std::string& path) const {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return system_failure(path, errno);
  if (S_ISDIR(status.st_mode)) return system_failure(path, EISDIR);
  return static_cast<std::uint64_t>(status.st_size);
}

Result<std::vector<std::string>> PosixFileSystem::list(const std::string& directory) const {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), ::closedir);
  if (!stream) return system_failure(directory, errno);
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return system_failure(directory, errno);
  std::sort(names.begin(), names.end());
  return names;
}

Result<> PosixFileSystem::remove(const std::string& path) {
  if (::unlink(path.c_str()) == 0) return {};
  const int error_number = errno;
  struct stat status {};
  const bool directory = ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  if (!directory) return system_failure(path, error_number);
  if (::rmdir(path.c_str()) != 0) return system_failure(path, errno);
  return {};
}

Result<> PosixFileSystem::rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  const int error_number = errno;
  return system_failure(error_number == ENOENT && !exists(from) ? from : to, error_number);
}

Result<> PosixFileSystem::make_directories(const std::string& path, unsigned mode) {
  if (path.empty()) return system_failure(path, ENOENT);
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string step = path.substr(0, end);
    if (::mkdir(step.c_str(), mode) != 0) {
      const int error_number = errno;
      // A read-only device says so even of a directory that is there.
      if (!is_directory(step)) return system_failure(step, error_number == EEXIST ? ENOTDIR : error_number);
    }
    if (end == std::string::npos) return {};
  }
}

std::string PosixFileSystem::temporary_name(const std::string& path) {
  return fmt::format("{}.tmp-{}-{}", path, ::getpid(), temporary_count_.fetch_add(1, std::memory_order_relaxed));
}

}  // namespace tandem
