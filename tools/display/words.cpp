#include "tools/display/words.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tuner/space/value_text.hpp"

namespace tandem::tools {

std::string short_number(double number) { return fmt::format("{:.4g}", number); }

std::string short_seconds(double seconds) {
  if (!(seconds >= 0)) return {};
  if (seconds == 0) return "0 s";
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 0.9995) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds < 59.95) return fmt::format("{:.3g} s", seconds);
  if (seconds > 1e9) return "ages";
  const auto whole = std::llround(seconds);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string short_parameters(const tuner::Parameters& params) {
  std::string text;
  for (const auto& [name, value] : params) {
    if (!text.empty()) text += ' ';
    text += name + '=';
    if (const auto* number = std::get_if<double>(&value)) {
      text += short_number(*number);
    } else if (const auto* word = std::get_if<std::string>(&value)) {
      text += *word;
    } else {
      text += tuner::to_text(value);
    }
  }
  return text;
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find_first_of("\r\n"))); }

}  // namespace tandem::tools
