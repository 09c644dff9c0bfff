#include "runtime/wire/address.hpp"

#include <charconv>
#include <system_error>

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

std::string HostPort::text() const {
  const bool bracketed = host.find(':') != std::string::npos;
  return (bracketed ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<HostPort> parse_host_port(std::string_view text) {
  const auto refuse = [text](std::string_view why) {
    return fail(ErrorCode::invalid_argument, "'{}' is no HOST:PORT: {}", text, why);
  };
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || text.substr(colon).find(']') != std::string_view::npos) {
    return refuse("the port is missing");
  }
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return refuse("an IPv6 address stands in brackets, as in [::1]:7077");
  }
  if (host.empty()) return refuse("the host is missing");
  if (host.find_first_of("[] \t\n/") != std::string_view::npos) return refuse("that is no host");
  HostPort parsed{.host = std::string(host)};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed.port);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    return refuse("a port is a number from 0 to 65535");
  }
  return parsed;
}

Result<HostPort> parse_host_address(std::string_view text, std::string_view scheme) {
  const auto address = parse_address(text, scheme);
  if (!address) return forward_error(address);
  return parse_host_port(address->rest);
}

Result<HostPort> parse_peer_address(std::string_view text, std::string_view scheme) {
  auto parsed = parse_host_address(text, scheme);
  if (parsed && parsed->port == 0) return fail(ErrorCode::invalid_argument, "cannot connect to port 0: {}", text);
  return parsed;
}

}  // namespace tandem::runtime
