#include "runtime/wire/address.hpp"

namespace tandem::runtime {

Result<Address> parse_address(std::string_view text, std::string_view allowed_scheme) {
  const auto colon = text.find(':');
  Address address;
  if (colon != std::string_view::npos) {
    address.scheme = std::string(text.substr(0, colon));
    address.rest = std::string(text.substr(colon + 1));
  }
  if (address.scheme != allowed_scheme || address.rest.empty()) {
    return fail(ErrorCode::invalid_argument, "'{}' is no address here; expected '{}:…'", text, allowed_scheme);
  }
  return address;
}

}  // namespace tandem::runtime
