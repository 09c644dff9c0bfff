#include "tuner/pipetune/parameters/integers.hpp"

#include <algorithm>
#include <bit>

#include "tuner/space/value_text.hpp"

namespace tandem::tuner {

Result<> check_integer(std::string_view name, const Value& value, std::int64_t low, std::int64_t high) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer != nullptr && *integer >= low && *integer <= high) return {};
  return fail(ErrorCode::invalid_argument, "{} = {}: must be an integer from {} to {}", name, to_text(value), low,
              high);
}

std::vector<Value> halvings(std::int64_t cores) {
  const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(cores, 1));
  std::vector<Value> values{static_cast<std::int64_t>(most)};
  for (std::uint64_t value = std::bit_floor(most); value >= 1; value /= 2) {
    if (value < most) values.emplace_back(static_cast<std::int64_t>(value));
  }
  return values;
}

}  // namespace tandem::tuner
