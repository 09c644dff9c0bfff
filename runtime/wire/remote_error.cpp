#include "runtime/wire/remote_error.hpp"

#include <algorithm>

#include "runtime/base/limits.hpp"

namespace tandem::runtime {

void write_error(schemas::RemoteError::Builder into, const Error& error) {
  into.setCode(static_cast<std::uint16_t>(error.code()));
  const std::string text = error.message().substr(0, limits::kErrorTextBytes);
  into.setMessage({text.c_str(), text.size()});
}

Error read_error(schemas::RemoteError::Reader error) {
  constexpr std::uint16_t kLast = static_cast<std::uint16_t>(ErrorCode::internal);
  const auto code = static_cast<ErrorCode>(std::min(error.getCode(), kLast));
  return {code, std::string(error.getMessage().begin(), error.getMessage().size())};
}

}  // namespace tandem::runtime
