/// SchemeTransport: several transports as one; an address's scheme says which.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "runtime/wire/transport.hpp"

namespace tandem::runtime {

/// `transports` by scheme, not empty. An address with another scheme is refused, naming those there are.
[[nodiscard]] std::unique_ptr<Transport> make_scheme_transport(
    std::map<std::string, std::unique_ptr<Transport>> transports);

}  // namespace tandem::runtime
