/// Doctor: what this machine gives Tandem, what that means, and how to get more.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/clock.hpp"
#include "runtime/base/file_system.hpp"

namespace tandem::tools {

struct Finding {
  enum class State { ok, degraded, missing };
  std::string name;
  State state = State::ok;
  std::string value;
  std::string meaning;
  std::string remedy;  ///< empty when there is nothing to do
};
/// "ok", "degraded", "missing".
[[nodiscard]] std::string_view to_string(Finding::State state) noexcept;

/// What the examination looks at; a test gives other files and another environment.
struct Patient {
  const FileSystem& files;
  const Clock& clock;
  std::map<std::string, std::string> environment;
};

/// In a fixed order; takes some tens of milliseconds. A check that fails becomes a finding that says so.
[[nodiscard]] std::vector<Finding> examine(const Patient& patient);

}  // namespace tandem::tools
