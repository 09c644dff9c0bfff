#include "runtime/base/result.hpp"

namespace tandem {

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::already_exists:
      return "already_exists";
    case ErrorCode::permission_denied:
      return "permission_denied";
    case ErrorCode::resource_exhausted:
      return "resource_exhausted";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::deadline_exceeded:
      return "deadline_exceeded";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::failed_precondition:
      return "failed_precondition";
    case ErrorCode::data_loss:
      return "data_loss";
    case ErrorCode::infeasible:
      return "infeasible";
    case ErrorCode::internal:
      return "internal";
  }
  return "unknown";
}

}  // namespace tandem
