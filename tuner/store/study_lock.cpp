#include "tuner/store/study_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace tandem::tuner {

namespace {

tl::unexpected<Error> system_failure(const std::string& path, int error) {
  const ErrorCode code = error == ENOSPC || error == EDQUOT || error == EMFILE ? ErrorCode::resource_exhausted
                         : error == EACCES || error == EPERM || error == EROFS ? ErrorCode::permission_denied
                                                                               : ErrorCode::unavailable;
  return fail(code, "{}: {}", path, std::generic_category().message(error));
}

std::string holder(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(descriptor, text.data(), text.size() - 1, 0);
  std::string pid(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!pid.empty() && pid.back() == '\n') pid.pop_back();
  return pid.empty() ? "unknown" : pid;
}

}  // namespace

// The lock belongs to the open file, not to the process, so two stores of one process exclude each other too; and it is
// never removed, since a removed file could be locked by one process while another locks its successor.
Result<StudyLock> StudyLock::take(const std::string& directory, std::string_view study) {
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return system_failure(directory, errno);
  const std::string path = fmt::format("{}/{}.lock", directory, study);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return system_failure(path, errno);
  StudyLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_failure(path, errno);
    return fail(ErrorCode::failed_precondition, "study \"{}\" is in use by process {} ({})", study, holder(descriptor),
                path);
  }
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(descriptor, 0) != 0) return system_failure(path, errno);
  // The number is for people; a disk too full to hold it does not make the lock less held.
  static_cast<void>(::pwrite(descriptor, pid.data(), pid.size(), 0) < 0);
  return lock;
}

StudyLock::StudyLock(StudyLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

StudyLock& StudyLock::operator=(StudyLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

StudyLock::~StudyLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace tandem::tuner
