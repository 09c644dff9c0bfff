/// StudyLock: says that this process writes to a study. The operating system lets go of it when the process dies.
/// Private to tuner/store.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/result.hpp"

namespace tandem::tuner {

class StudyLock {
 public:
  /// Locks `directory`/STUDY.lock. failed_precondition: another holds it; the message names its process.
  static Result<StudyLock> take(const std::string& directory, std::string_view study);
  StudyLock(StudyLock&& other) noexcept;
  StudyLock& operator=(StudyLock&& other) noexcept;
  ~StudyLock();

 private:
  explicit StudyLock(int descriptor) noexcept : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace tandem::tuner
