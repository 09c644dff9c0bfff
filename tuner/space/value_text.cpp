#include "tuner/space/value_text.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tuner/space/value_json.hpp"

namespace tandem::tuner {

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string to_text(const Value& value) {
  const auto* number = std::get_if<double>(&value);
  if (number != nullptr && !std::isfinite(*number)) return std::isnan(*number) ? "nan" : *number > 0 ? "inf" : "-inf";
  return dump_json(to_json(value));
}

std::string to_text(const std::vector<Value>& values) {
  std::string text;
  for (const auto& value : values) text += (text.empty() ? "" : ", ") + to_text(value);
  return text;
}

std::string canonical_text(const Parameters& params) { return dump_json(to_json(params)); }

std::string_view type_name(const Value& value) noexcept {
  switch (value.index()) {
    case 0:
      return "boolean";
    case 1:
      return "integer";
    case 2:
      return "float";
    default:
      return "string";
  }
}

std::string_view nearest_name(std::string_view word, const std::vector<std::string_view>& known) {
  constexpr std::size_t kLongestWord = 100;  // the distance takes quadratic time
  if (word.size() > kLongestWord) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(word.size() / 2, 1) + 1;
  for (const auto name : known) {
    const std::size_t distance = edit_distance(word, name);
    if (distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace tandem::tuner
