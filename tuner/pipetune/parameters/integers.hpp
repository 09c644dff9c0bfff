/// What integer-valued system parameters share.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "tuner/space/value.hpp"

namespace tandem::tuner {

/// "threads = 0: must be an integer from 1 to 4096"
[[nodiscard]] Result<> check_integer(std::string_view name, const Value& value, std::int64_t low, std::int64_t high);

/// `cores`, then the powers of two below it, downwards.
[[nodiscard]] std::vector<Value> halvings(std::int64_t cores);

}  // namespace tandem::tuner
