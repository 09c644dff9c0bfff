#include "runtime/base/byte_size.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace tandem {

namespace {

constexpr std::string_view kUnits = "KMGT";
constexpr int kUnitBits = 10;
constexpr double kLargestBytes = 0x1p62;

/// The power of two a unit stands for; negative: it is none.
int unit_bits(std::string_view unit) {
  if (unit.empty()) return 0;
  const auto at = kUnits.find(unit.front() >= 'a' && unit.front() <= 'z' ? static_cast<char>(unit.front() - 'a' + 'A')
                                                                         : unit.front());
  if (at == std::string_view::npos || (unit.size() > 1 && unit.substr(1) != "iB")) return -1;
  return kUnitBits * (static_cast<int>(at) + 1);
}

}  // namespace

Result<std::int64_t> parse_byte_size(std::string_view text) {
  const char* const end = text.data() + text.size();
  double number = 0;
  const auto [rest, trouble] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  if (rest != text.data() && unit.starts_with(' ')) unit.remove_prefix(1);
  const int bits = unit_bits(unit);
  const double bytes = std::ldexp(number, bits);
  if (trouble != std::errc{} || bits < 0 || !(bytes >= 0 && bytes <= kLargestBytes)) {
    return fail(ErrorCode::invalid_argument,
                "'{}' is not a size; allowed: a number of bytes, or one with K, M, G or T, such as 512M or 1.5GiB "
                "(powers of 1024)",
                text);
  }
  return static_cast<std::int64_t>(bytes);
}

std::string format_byte_size(std::int64_t bytes) {
  constexpr std::array<const char*, 4> kNames = {"TiB", "GiB", "MiB", "KiB"};
  int bits = 4 * kUnitBits;
  for (const char* name : kNames) {
    if (bytes >= std::int64_t{1} << bits) return fmt::format("{:.1f} {}", std::ldexp(bytes, -bits), name);
    bits -= kUnitBits;
  }
  return fmt::format("{} {}", bytes, bytes == 1 ? "byte" : "bytes");
}

}  // namespace tandem
