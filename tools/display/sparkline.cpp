#include "tools/display/sparkline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace tandem::tools {
namespace {

constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 5> kPlain = {".", "_", "-", "=", "^"};

std::string_view level(double share, bool utf8) {
  const std::size_t levels = utf8 ? kBlocks.size() : kPlain.size();
  const auto index = std::min(static_cast<std::size_t>(share * static_cast<double>(levels)), levels - 1);
  return utf8 ? kBlocks.at(index) : kPlain.at(index);
}

}  // namespace

std::string sparkline(const std::vector<double>& values, int columns, bool utf8) {
  const auto count = std::min(values.size(), static_cast<std::size_t>(std::max(columns, 0)));
  const std::vector<double> shown(values.end() - static_cast<std::ptrdiff_t>(count), values.end());
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const double value : shown) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  std::string line;
  for (const double value : shown) {
    if (!std::isfinite(value)) {
      line += '!';
      continue;
    }
    // Halves first: the span of two large numbers may not be finite.
    const double span = high / 2 - low / 2;
    line += level(span > 0 ? (value / 2 - low / 2) / span : 0, utf8);
  }
  return line;
}

std::string progress_bar(double share, int columns, bool utf8) {
  const double bounded = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0;
  const int filled = static_cast<int>(std::lround(bounded * std::max(columns, 0)));
  std::string bar;
  for (int i = 0; i < columns; ++i) {
    if (utf8) {
      bar += i < filled ? "━" : "╌";
    } else {
      bar += i < filled ? '#' : '.';
    }
  }
  return bar;
}

}  // namespace tandem::tools
