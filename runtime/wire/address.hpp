/// Address: "scheme:rest", e.g. "unix:/run/tandem/worker.sock", "tcp:10.0.0.7:7077" or "memory:head".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"

namespace tandem::runtime {

struct Address {
  std::string scheme;
  std::string rest;
};

/// Refuses an address without a scheme, or with one that is not `allowed`.
[[nodiscard]] Result<Address> parse_address(std::string_view text, std::string_view allowed_scheme);

/// The rest of a "tcp:" address.
struct HostPort {
  std::string host;  ///< a name, an IPv4 address, or an IPv6 address without its brackets
  std::uint16_t port = 0;
  /// "host:port", an IPv6 address in brackets.
  [[nodiscard]] std::string text() const;
};

/// "HOST:PORT"; an IPv6 address must stand in brackets: "[::1]:7077". Port 0 is for listening only.
[[nodiscard]] Result<HostPort> parse_host_port(std::string_view text);

/// "SCHEME:HOST:PORT", to listen at.
[[nodiscard]] Result<HostPort> parse_host_address(std::string_view text, std::string_view scheme);
/// The same to connect to: port 0 is refused.
[[nodiscard]] Result<HostPort> parse_peer_address(std::string_view text, std::string_view scheme);

}  // namespace tandem::runtime
