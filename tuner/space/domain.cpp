#include "tuner/space/domain.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "tuner/limits.hpp"
#include "tuner/space/overloaded.hpp"
#include "tuner/space/value_text.hpp"

namespace tandem::tuner {

namespace {

constexpr auto kWrong = ErrorCode::invalid_argument;

/// Steps from low to high, when they are whole but for a rounding: 0.3 / 0.1 is 3, not 2.99….
std::optional<double> whole_steps(const FloatDomain& d) {
  const double quotient = (d.high - d.low) / d.step;
  const double nearest = std::round(quotient);
  if (std::abs(quotient - nearest) > 1e-9 + 1e-14 * nearest) return std::nullopt;
  return nearest;
}

double float_steps(const FloatDomain& d) { return whole_steps(d).value_or(std::floor((d.high - d.low) / d.step)); }

double float_value(const FloatDomain& d, std::uint64_t index) {
  // The last value is `high` itself where it lies on the grid, whatever the rounding.
  if (whole_steps(d) == static_cast<double>(index)) return d.high;
  return d.low + static_cast<double>(index) * d.step;
}

std::uint64_t int_steps(const IntDomain& d) { return static_cast<std::uint64_t>((d.high - d.low) / d.step); }

std::int64_t int_value(const IntDomain& d, std::uint64_t index) {
  return d.low + static_cast<std::int64_t>(index) * d.step;
}

/// Index of a grid value, drawn so that its logarithm is uniform. Every value gets the interval around it.
std::uint64_t log_grid_index(double low, double step, std::uint64_t last, Random& random) {
  const double begin = std::max(low - step / 2, low / 2);
  const double end = low + (static_cast<double>(last) + 0.5) * step;
  const double drawn = std::exp(std::log(begin) + random.uniform() * (std::log(end) - std::log(begin)));
  const double index = std::round((drawn - low) / step);
  return static_cast<std::uint64_t>(std::clamp(index, 0.0, static_cast<double>(last)));
}

std::uint64_t uniform_index(std::uint64_t last, Random& random) {
  return static_cast<std::uint64_t>(random.uniform_int(0, static_cast<std::int64_t>(last)));
}

/// The number a value stands for, when it is one.
std::optional<double> as_number(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return static_cast<double>(*number);
  return std::nullopt;
}

std::optional<std::int64_t> as_integer(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  const auto* number = std::get_if<double>(&value);
  if (number == nullptr || std::trunc(*number) != *number) return std::nullopt;
  if (std::abs(*number) > static_cast<double>(limits::kMaxInteger)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<std::uint64_t> float_index(const FloatDomain& d, double value) {
  if (d.step == 0 || !(value >= d.low - d.step / 2 && value <= d.high + d.step / 2)) return std::nullopt;
  const double index = std::clamp(std::round((value - d.low) / d.step), 0.0, float_steps(d));
  const double exact = float_value(d, static_cast<std::uint64_t>(index));
  if (std::abs(exact - value) > 1e-9 * d.step) return std::nullopt;
  return static_cast<std::uint64_t>(index);
}

/// Equal, or equal as numbers.
bool same_value(const Value& a, const Value& b) {
  if (a.index() == b.index()) return a == b;
  const auto x = as_number(a);
  const auto y = as_number(b);
  return x && y && *x == *y;
}

Result<> check_float(const FloatDomain& d) {
  if (!std::isfinite(d.low) || !std::isfinite(d.high)) return fail(kWrong, "low and high must be finite");
  if (!(d.low < d.high)) return fail(kWrong, "low must be less than high");
  if (!std::isfinite(d.high - d.low)) return fail(kWrong, "high - low is too large for a float");
  if (d.log && !(d.low > 0)) return fail(kWrong, "a log range needs low > 0");
  if (d.step == 0) return {};
  if (!(d.step > 0) || !std::isfinite(d.step)) return fail(kWrong, "step must be greater than 0");
  if (float_steps(d) < 1) return fail(kWrong, "step must be at most high - low");
  if ((d.high - d.low) / d.step > limits::kMaxGridValues) {
    return fail(kWrong, "step is too small; at most {:.0f} values are allowed", limits::kMaxGridValues);
  }
  return {};
}

Result<> check_int(const IntDomain& d) {
  if (std::min(d.low, d.high) < -limits::kMaxInteger || std::max(d.low, d.high) > limits::kMaxInteger) {
    return fail(kWrong, "low and high must lie between -2^53 and 2^53");
  }
  if (d.low >= d.high) return fail(kWrong, "low must be less than high");
  if (d.log && d.low <= 0) return fail(kWrong, "a log range needs low > 0");
  if (d.step <= 0) return fail(kWrong, "step must be greater than 0");
  if (int_steps(d) < 1) return fail(kWrong, "step must be at most high - low");
  return {};
}

Result<> check_choice(const ChoiceDomain& d) {
  if (d.choices.empty()) return fail(kWrong, "choice must name at least one value");
  if (d.choices.size() > limits::kMaxChoices) {
    return fail(kWrong, "choice has {} values; at most {} are allowed", d.choices.size(), limits::kMaxChoices);
  }
  std::set<Value> seen;
  for (const auto& value : d.choices) {
    if (value.index() != d.choices.front().index()) {
      return fail(kWrong, "choice mixes {} and {}; all values must be of one type", type_name(d.choices.front()),
                  type_name(value));
    }
    const auto number = as_number(value);
    if (number && !std::isfinite(*number)) return fail(kWrong, "choice has {}; numbers must be finite", to_text(value));
    if (!seen.insert(value).second) return fail(kWrong, "choice names {} twice", to_text(value));
  }
  return {};
}

}  // namespace

Result<> check_domain(const Domain& domain) {
  return std::visit(
      Overloaded{[](const FloatDomain& d) { return check_float(d); }, [](const IntDomain& d) { return check_int(d); },
                 [](const ChoiceDomain& d) { return check_choice(d); }},
      domain);
}

std::optional<std::uint64_t> domain_size(const Domain& domain) {
  return std::visit(Overloaded{[](const FloatDomain& d) -> std::optional<std::uint64_t> {
                                 if (d.step == 0) return std::nullopt;
                                 return static_cast<std::uint64_t>(float_steps(d)) + 1;
                               },
                               [](const IntDomain& d) -> std::optional<std::uint64_t> { return int_steps(d) + 1; },
                               [](const ChoiceDomain& d) -> std::optional<std::uint64_t> { return d.choices.size(); }},
                    domain);
}

Value domain_value(const Domain& domain, std::uint64_t index) {
  return std::visit(Overloaded{[&](const FloatDomain& d) -> Value { return float_value(d, index); },
                               [&](const IntDomain& d) -> Value { return int_value(d, index); },
                               [&](const ChoiceDomain& d) -> Value { return d.choices.at(index); }},
                    domain);
}

std::optional<std::uint64_t> domain_index(const Domain& domain, const Value& value) {
  return std::visit(Overloaded{[&](const FloatDomain& d) -> std::optional<std::uint64_t> {
                                 const auto number = as_number(value);
                                 return number ? float_index(d, *number) : std::nullopt;
                               },
                               [&](const IntDomain& d) -> std::optional<std::uint64_t> {
                                 const auto number = as_integer(value);
                                 if (!number || *number < d.low || *number > d.high || (*number - d.low) % d.step != 0)
                                   return std::nullopt;
                                 return static_cast<std::uint64_t>((*number - d.low) / d.step);
                               },
                               [&](const ChoiceDomain& d) -> std::optional<std::uint64_t> {
                                 const auto found =
                                     std::find_if(d.choices.begin(), d.choices.end(),
                                                  [&](const Value& choice) { return same_value(choice, value); });
                                 if (found == d.choices.end()) return std::nullopt;
                                 return static_cast<std::uint64_t>(found - d.choices.begin());
                               }},
                    domain);
}

Value sample_domain(const Domain& domain, Random& random) {
  return std::visit(
      Overloaded{
          [&](const FloatDomain& d) -> Value {
            if (d.step != 0) {
              const auto last = static_cast<std::uint64_t>(float_steps(d));
              return float_value(d, d.log ? log_grid_index(d.low, d.step, last, random) : uniform_index(last, random));
            }
            const double u = random.uniform();
            const double drawn = d.log ? std::exp(std::log(d.low) + u * (std::log(d.high) - std::log(d.low)))
                                       : d.low + u * (d.high - d.low);
            return std::clamp(drawn, d.low, d.high);
          },
          [&](const IntDomain& d) -> Value {
            const auto last = int_steps(d);
            if (!d.log) return int_value(d, uniform_index(last, random));
            return int_value(d, log_grid_index(static_cast<double>(d.low), static_cast<double>(d.step), last, random));
          },
          [&](const ChoiceDomain& d) -> Value { return d.choices[uniform_index(d.choices.size() - 1, random)]; }},
      domain);
}

Result<Value> normalize_value(const Domain& domain, const Value& value) {
  const auto* range = std::get_if<FloatDomain>(&domain);
  if (range != nullptr && range->step == 0) {
    const auto number = as_number(value);
    if (number && *number >= range->low && *number <= range->high) return Value(*number);
  } else if (const auto index = domain_index(domain, value)) {
    return domain_value(domain, *index);
  }
  return fail(kWrong, "{} is not allowed; allowed: {}", to_text(value), describe_domain(domain));
}

std::string describe_domain(const Domain& domain) {
  return std::visit(
      Overloaded{[](const FloatDomain& d) {
                   return fmt::format("a float from {} to {}{}", d.low, d.high,
                                      d.step == 0 ? std::string() : fmt::format(" in steps of {}", d.step));
                 },
                 [](const IntDomain& d) {
                   return fmt::format("an integer from {} to {}{}", d.low, d.high,
                                      d.step == 1 ? std::string() : fmt::format(" in steps of {}", d.step));
                 },
                 [](const ChoiceDomain& d) {
                   constexpr std::size_t kShown = 20;
                   if (d.choices.size() <= kShown) return fmt::format("one of {}", to_text(d.choices));
                   const std::vector<Value> first(d.choices.begin(), d.choices.begin() + kShown);
                   return fmt::format("one of {}, … ({} values)", to_text(first), d.choices.size());
                 }},
      domain);
}

bool is_ordinal(const ChoiceDomain& domain) {
  return std::all_of(domain.choices.begin(), domain.choices.end(), [](const Value& v) { return as_number(v); }) &&
         std::adjacent_find(domain.choices.begin(), domain.choices.end(), std::greater_equal<>()) ==
             domain.choices.end();
}

}  // namespace tandem::tuner
