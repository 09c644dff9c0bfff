/// Exit codes of the program, and which one an error leads to.
#pragma once

#include "runtime/base/result.hpp"

namespace tandem::tools {

enum class ExitCode : int {
  done = 0,
  failed = 1,
  bad_usage = 2,   ///< the command line or a file is wrong
  infeasible = 3,  ///< or nothing found
};

[[nodiscard]] constexpr ExitCode exit_code_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::already_exists:
    case ErrorCode::failed_precondition:
      return ExitCode::bad_usage;
    case ErrorCode::infeasible:
    case ErrorCode::not_found:
      return ExitCode::infeasible;
    default:
      return ExitCode::failed;
  }
}

}  // namespace tandem::tools
