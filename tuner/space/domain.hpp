/// Domain: the values one parameter may take: a range of floats, a range of integers, or a choice.
/// Bounds are inclusive. On a grid the value is low + index * step, so that no error accumulates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/base/random.hpp"
#include "runtime/base/result.hpp"
#include "tuner/space/value.hpp"

namespace tandem::tuner {

struct FloatDomain {
  double low = 0;
  double high = 1;
  double step = 0;  ///< 0: continuous
  bool log = false;
};

struct IntDomain {
  std::int64_t low = 0;
  std::int64_t high = 1;
  std::int64_t step = 1;
  bool log = false;
};

/// Values of one type. Numbers in ascending order are ordinal.
struct ChoiceDomain {
  std::vector<Value> choices;
};

using Domain = std::variant<FloatDomain, IntDomain, ChoiceDomain>;

/// Says what makes the domain unusable, e.g. "low must be less than high".
[[nodiscard]] Result<> check_domain(const Domain& domain);
/// How many values; nullopt: continuous.
[[nodiscard]] std::optional<std::uint64_t> domain_size(const Domain& domain);
/// The value number `index` of a domain that is not continuous.
[[nodiscard]] Value domain_value(const Domain& domain, std::uint64_t index);
/// The inverse of `domain_value`; nullopt: continuous, or not one of its values.
[[nodiscard]] std::optional<std::uint64_t> domain_index(const Domain& domain, const Value& value);
/// Uniform over the range, its logarithm, or the choices. A log range with a step is drawn in the logarithm, then
/// rounded to the grid.
[[nodiscard]] Value sample_domain(const Domain& domain, Random& random);
/// `value` in the domain's own type, put exactly on the grid when within rounding of it.
/// Errors say what is allowed.
[[nodiscard]] Result<Value> normalize_value(const Domain& domain, const Value& value);
/// E.g. "a float from 0.001 to 0.1", "one of 32, 64, 256".
[[nodiscard]] std::string describe_domain(const Domain& domain);
[[nodiscard]] bool is_ordinal(const ChoiceDomain& domain);

}  // namespace tandem::tuner
