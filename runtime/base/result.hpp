/// Result<T>: the value, or an Error that says what was wrong, where, and what is allowed.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace tandem {

enum class ErrorCode {
  invalid_argument,     ///< the caller's input is wrong; asking again will not help
  not_found,            ///< a name, file or record does not exist
  already_exists,       ///< a name, file or record exists already
  permission_denied,    ///< the operating system or a token refused
  resource_exhausted,   ///< a limit, a queue, a disk or memory is full
  unavailable,          ///< the peer or device is gone or not there yet; trying again may help
  deadline_exceeded,    ///< no answer in time
  cancelled,            ///< stopped on request
  failed_precondition,  ///< the state does not allow it
  data_loss,            ///< stored or received bytes are damaged
  infeasible,           ///< no solution exists under the given limits
  internal,             ///< a broken invariant: a defect of ours
};

/// Short lower-case name, e.g. "not_found".
[[nodiscard]] std::string_view to_string(ErrorCode code) noexcept;

/// A failure, ready to be shown to a person.
class [[nodiscard]] Error {
 public:
  Error(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  [[nodiscard]] ErrorCode code() const noexcept { return code_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

  /// The same error told from further out: "outer: message".
  [[nodiscard]] Error within(std::string_view outer) const { return {code_, fmt::format("{}: {}", outer, message_)}; }

 private:
  ErrorCode code_;
  std::string message_;
};

template <class T = void>
using Result = tl::expected<T, Error>;

/// `return fail(ErrorCode::not_found, "no study '{}' in {}", name, path);`
template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error(code, fmt::format(format, std::forward<Args>(args)...)));
}

/// Hands an error of `result` on: `if (!r) return forward_error(r);`
template <class T>
[[nodiscard]] tl::unexpected<Error> forward_error(const Result<T>& result) {
  return tl::unexpected<Error>(result.error());
}
template <class T>
[[nodiscard]] tl::unexpected<Error> forward_error(const Result<T>& result, std::string_view outer) {
  return tl::unexpected<Error>(result.error().within(outer));
}

}  // namespace tandem
