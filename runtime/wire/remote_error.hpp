/// Errors as they are told to another node.
#pragma once

#include "runtime/base/result.hpp"
#include "schemas/wire.capnp.h"

namespace tandem::runtime {

/// Text beyond limits::kErrorTextBytes is cut off.
void write_error(schemas::RemoteError::Builder into, const Error& error);
/// A code that this version does not know becomes `internal`.
[[nodiscard]] Error read_error(schemas::RemoteError::Reader error);

}  // namespace tandem::runtime
