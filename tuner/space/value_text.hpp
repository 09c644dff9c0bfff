/// Text of values: for errors and displays, and as keys that tell points apart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/space/value.hpp"

namespace tandem::tuner {

/// As JSON writes it: true, 3, 0.5, "sgd". Non-finite numbers: nan, inf, -inf.
[[nodiscard]] std::string to_text(const Value& value);
/// "a, b, c"
[[nodiscard]] std::string to_text(const std::vector<Value>& values);
/// One line, the same for equal parameters only: {"batch_size":32,"optimizer":"sgd"}.
[[nodiscard]] std::string canonical_text(const Parameters& params);
/// "boolean", "integer", "float" or "string".
[[nodiscard]] std::string_view type_name(const Value& value) noexcept;

/// The one of `known` most like `word`, for "did you mean"; empty: nothing is near.
[[nodiscard]] std::string_view nearest_name(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace tandem::tuner
