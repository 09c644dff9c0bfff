/// Surroundings: all that a command touches outside itself. main() gives the real ones, a test its own.
#pragma once

#include <iosfwd>
#include <map>
#include <string>

#include "runtime/base/clock.hpp"
#include "runtime/base/file_system.hpp"
#include "runtime/base/process_launcher.hpp"

namespace tandem::tools {

struct Surroundings {
  std::istream& in;
  std::ostream& out;  ///< the answer
  std::ostream& err;  ///< errors, the log and the progress display
  FileSystem& files;
  ProcessLauncher& launcher;
  const Clock& clock;
  std::map<std::string, std::string> environment;
  std::string program_path;      ///< of this executable
  bool err_is_terminal = false;  ///< a live display may be drawn on it

  /// An environment variable; empty when it is not set.
  [[nodiscard]] std::string variable(const std::string& name) const {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  }
};

}  // namespace tandem::tools
