/// Small readings of /proc and /sys, shared by this room.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/file_system.hpp"
#include "runtime/base/limits.hpp"

namespace tandem::runtime {

/// Without surrounding white space.
[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

/// The whole of `text` as a number.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  const std::string_view digits = trimmed(text);
  Number value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  return value;
}

/// The next line of `text`, which is taken off it; nullopt at the end.
[[nodiscard]] inline std::optional<std::string_view> next_line(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// The next word of `text`, up to `separator`, which is taken off it; nullopt at the end.
[[nodiscard]] inline std::optional<std::string_view> next_word(std::string_view& text, char separator = ' ') {
  const auto first = text.find_first_not_of(separator);
  if (first == std::string_view::npos) return std::nullopt;
  text.remove_prefix(first);
  const auto end = text.find(separator);
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return word;
}

/// A file with one number in it.
template <class Number>
[[nodiscard]] std::optional<Number> read_number(const FileSystem& files, const std::string& path) {
  const auto text = files.read_file(path, limits::kSystemFileBytes);
  if (!text) return std::nullopt;
  return parse_number<Number>(*text);
}

/// The number after `key` in a file of "key value" or "key: value unit" lines.
[[nodiscard]] inline std::optional<std::int64_t> read_keyed_number(const FileSystem& files, const std::string& path,
                                                                   std::string_view key) {
  const auto text = files.read_file(path, limits::kSystemFileBytes);
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  while (auto line = next_line(rest)) {
    if (!line->starts_with(key)) continue;
    std::string_view words = line->substr(key.size());
    if (words.starts_with(':')) words.remove_prefix(1);
    if (!words.starts_with(' ') && !words.starts_with('\t')) continue;
    words = trimmed(words);
    const auto number = next_word(words);
    return number ? parse_number<std::int64_t>(*number) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace tandem::runtime
