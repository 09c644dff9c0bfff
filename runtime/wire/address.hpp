/// Address: "scheme:rest", e.g. "unix:/run/tandem/worker.sock" or "memory:head".
#pragma once

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

}  // namespace tandem::runtime
