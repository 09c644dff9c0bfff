#include "tools/display/text_width.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tandem::tools {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
};

/// Length of a UTF-8 sequence by its first byte; 0: it cannot begin one.
std::size_t sequence_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xF0 && first < 0xF5) return 4;
  return 0;
}

Character next_character(std::string_view text) {
  constexpr Character kReplacement{0xFFFD, 1};
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = sequence_length(first);
  if (length == 1) return {first, 1};
  if (length == 0 || length > text.size()) return kReplacement;
  std::uint32_t code = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80U) return kReplacement;
    code = code << 6 | (byte & 0x3FU);
  }
  return {code, length};
}

struct Range {
  std::uint32_t first, last;
};

int width_of(std::uint32_t code) {
  constexpr std::array<Range, 4> kCombining = {{{0x300, 0x36F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}}};
  constexpr std::array<Range, 8> kWide = {{{0x1100, 0x115F},
                                           {0x2E80, 0xA4CF},
                                           {0xAC00, 0xD7A3},
                                           {0xF900, 0xFAFF},
                                           {0xFE30, 0xFE6F},
                                           {0xFF00, 0xFF60},
                                           {0x1F300, 0x1FAFF},
                                           {0x20000, 0x3FFFD}}};
  const auto covers = [code](const Range& range) { return code >= range.first && code <= range.last; };
  if (std::any_of(kCombining.begin(), kCombining.end(), covers)) return 0;
  return std::any_of(kWide.begin(), kWide.end(), covers) ? 2 : 1;
}

bool is_control(std::uint32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

}  // namespace

int text_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Character character = next_character(text);
    width += width_of(character.code);
    text.remove_prefix(character.bytes);
  }
  return width;
}

std::string fit_text(std::string_view text, int columns, bool utf8) {
  if (columns <= 0) return {};
  const bool cut = text_width(text) > columns;
  const int room = cut ? columns - 1 : columns;
  std::string fitted;
  int width = 0;
  while (!text.empty()) {
    const Character character = next_character(text);
    width += width_of(character.code);
    if (width > room) break;
    const bool plain = !is_control(character.code) && character.code != 0xFFFD && (utf8 || character.code < 0x80);
    fitted += plain ? std::string(text.substr(0, character.bytes)) : "?";
    text.remove_prefix(character.bytes);
  }
  if (cut) fitted += utf8 ? "…" : "~";
  return fitted;
}

std::string pad_text(std::string_view text, int columns) {
  const int missing = columns - text_width(text);
  return std::string(text) + std::string(static_cast<std::size_t>(std::max(missing, 0)), ' ');
}

}  // namespace tandem::tools
