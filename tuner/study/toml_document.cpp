#include "tuner/study/toml_document.hpp"

#include <algorithm>
#include <sstream>

#include "tuner/limits.hpp"
#include "tuner/space/value_text.hpp"

namespace tandem::tuner {

namespace {

constexpr auto kWrong = ErrorCode::invalid_argument;

bool is_bare_key(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

Result<TomlPath> split_key(std::string_view key) {
  TomlPath path;
  std::size_t begin = 0;
  while (begin <= key.size()) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    path.emplace_back(key.substr(begin, end - begin));
    if (!is_bare_key(path.back())) return fail(kWrong, "\"{}\" is not table.key", key);
    begin = end + 1;
  }
  if (path.size() < 2) return fail(kWrong, "\"{}\" is not table.key", key);
  if (path.size() > limits::kMaxKeyParts) return fail(kWrong, "a key of more than {} parts", limits::kMaxKeyParts);
  return path;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// One TOML value, as the member "v" of a table; a bare word is a string.
Result<toml::table> parse_value(std::string_view text) {
  constexpr std::string_view kQuotes = "[{\"'";
  if (text.empty()) return fail(kWrong, "the value is missing");
  if (text.find_first_of("\r\n") == std::string_view::npos) {
    toml::parse_result parsed = toml::parse("v = " + std::string(text));
    if (parsed && parsed.table().size() == 1) return std::move(parsed).table();
    if (parsed || kQuotes.find(text.front()) != std::string_view::npos) {
      return fail(kWrong, "the value is not valid TOML{}{}", parsed ? "" : ": ",
                  parsed ? std::string_view() : parsed.error().description());
    }
  }
  toml::table word;
  word.insert("v", std::string(text));
  return word;
}

void render_into(std::string& text, const toml::node& node) {
  if (const auto* array = node.as_array()) {
    text += '[';
    for (std::size_t i = 0; i < array->size(); ++i) {
      if (i > 0) text += ", ";
      render_into(text, *array->get(i));
    }
    text += ']';
  } else if (const auto* table = node.as_table()) {
    text += '{';
    for (const auto& [key, value] : *table) {
      text += (text.back() == '{' ? " " : ", ") + std::string(key.str()) + " = ";
      render_into(text, value);
    }
    text += table->empty() ? "}" : " }";
  } else if (const auto value = scalar(node)) {
    text += to_text(*value);
  } else {
    text += "a date or time";
  }
}

}  // namespace

std::string render(const toml::node& node) {
  constexpr std::size_t kShown = 100;
  std::string text;
  render_into(text, node);
  if (text.size() <= kShown) return text;
  std::size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // whole characters only
  return text.substr(0, end) + "…";
}

std::string options(std::string_view word, const std::vector<std::string_view>& known, std::string_view label) {
  const auto near = nearest_name(word, known);
  return fmt::format("{}{}: {}", near.empty() ? std::string() : fmt::format("did you mean {}? ", near), label,
                     fmt::join(known, ", "));
}

std::optional<Value> scalar(const toml::node& node) {
  if (const auto* value = node.as_boolean()) return Value(value->get());
  if (const auto* value = node.as_integer()) return Value(value->get());
  if (const auto* value = node.as_floating_point()) return Value(value->get());
  if (const auto* value = node.as_string()) return Value(value->get());
  return std::nullopt;
}

/// The line of a key with more parts than a study file needs ("a.b.c. …"), which would nest that deep; 0: none.
std::size_t line_of_long_key(std::string_view text) {
  std::size_t line = 1, parts = 0;
  char quote = 0;
  bool comment = false;
  for (const char letter : text) {
    if (letter == '\n') {
      ++line;
      parts = 0;
      quote = 0;
      comment = false;
    } else if (comment) {
      continue;
    } else if (quote != 0) {
      if (letter == quote) quote = 0;
    } else if (letter == '"' || letter == '\'') {
      quote = letter;
    } else if (letter == '#') {
      comment = true;
    } else if (letter == '.') {
      if (++parts > limits::kMaxKeyParts) return line;
    } else if (letter != ' ' && letter != '\t' && !is_bare_key(std::string_view(&letter, 1))) {
      parts = 0;
    }
  }
  return 0;
}

Result<TomlDocument> TomlDocument::parse(std::string_view text, std::string_view file_name,
                                         const std::vector<std::string>& overrides) {
  if (text.size() > limits::kMaxStudyFileBytes) {
    return fail(kWrong, "{}:1: the file has {} bytes; at most {} are allowed", file_name, text.size(),
                limits::kMaxStudyFileBytes);
  }
  if (const std::size_t line = line_of_long_key(text); line > 0) {
    return fail(kWrong, "{}:{}: a key of more than {} parts", file_name, line, limits::kMaxKeyParts);
  }
  toml::parse_result parsed = toml::parse(text, file_name);
  if (!parsed) {
    const auto& error = parsed.error();
    return fail(kWrong, "{}:{}: not valid TOML: {}", file_name, std::max<std::uint32_t>(1, error.source().begin.line),
                error.description());
  }
  TomlDocument document;
  document.file_name_ = file_name;
  document.text_ = text;
  document.root_ = std::move(parsed).table();
  for (const auto& override_text : overrides) {
    const auto applied = document.apply(override_text);
    if (!applied) return fail(kWrong, "--set {}: {}", override_text, applied.error().message());
  }
  return document;
}

Result<> TomlDocument::apply(const std::string& override_text) {
  const auto equals = override_text.find('=');
  if (equals == std::string::npos) return fail(kWrong, "must be table.key=value, e.g. study.max_trials=10");
  const auto path = split_key(trimmed(std::string_view(override_text).substr(0, equals)));
  if (!path) return forward_error(path);
  auto value = parse_value(trimmed(std::string_view(override_text).substr(equals + 1)));
  if (!value) return forward_error(value);
  toml::table* table = &root_;
  for (std::size_t i = 0; i + 1 < path->size(); ++i) {
    auto* next = table->get((*path)[i]);
    if (next == nullptr) next = &table->insert((*path)[i], toml::table()).first->second;
    table = next->as_table();
    if (table == nullptr) return fail(kWrong, "{} is not a table", (*path)[i]);
  }
  value->get("v")->visit([&](auto& node) { table->insert_or_assign(path->back(), std::move(node)); });
  overrides_[*path] = override_text;
  return {};
}

const toml::node* TomlDocument::find(const TomlPath& path) const {
  const toml::node* node = &root_;
  for (const auto& key : path) {
    const auto* table = node->as_table();
    node = table == nullptr ? nullptr : table->get(key);
    if (node == nullptr) return nullptr;
  }
  return node;
}

std::string TomlDocument::where(const TomlPath& path) const {
  const auto starts_with = [](const TomlPath& whole, const TomlPath& part) {
    return whole.size() >= part.size() && std::equal(part.begin(), part.end(), whole.begin());
  };
  const auto* exact = find(path);
  const bool placeless = exact != nullptr && exact->source().begin.line == 0;
  std::string deeper;
  for (const auto& [overridden, text] : overrides_) {
    if (starts_with(path, overridden)) return "--set " + text;
    if (!starts_with(overridden, path)) continue;
    if (placeless) return "--set " + text;  // the override made this table
    if (path.size() > 1) deeper += " (with --set " + text + ")";
  }
  // A table that dotted keys made has no place of its own; its parent has.
  std::uint32_t line = 0;
  for (TomlPath place = path; line == 0 && !place.empty(); place.pop_back()) {
    const auto* node = find(place);
    if (node != nullptr) line = node->source().begin.line;
  }
  return fmt::format("{}:{}{}", file_name_, std::max<std::uint32_t>(1, line), deeper);
}

std::string TomlDocument::source() const {
  if (overrides_.empty()) return text_;
  std::ostringstream text;
  text << toml::toml_formatter(root_);
  return text.str() + "\n";
}

}  // namespace tandem::tuner
