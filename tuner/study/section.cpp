#include <algorithm>
#include <cmath>

#include "runtime/base/byte_size.hpp"
#include "tuner/limits.hpp"
#include "tuner/space/value_text.hpp"
#include "tuner/study/toml_document.hpp"

namespace tandem::tuner {

Section::Section(const TomlDocument& document, TomlPath path, std::optional<Error>& error)
    : document_(document), path_(std::move(path)), error_(error) {
  const toml::node* node = &document.root();
  for (const auto& key : path_) {
    const auto* table = node == nullptr ? nullptr : node->as_table();
    node = table == nullptr ? nullptr : table->get(key);
  }
  if (node == nullptr) return;
  table_ = node->as_table();
  if (table_ == nullptr && !error_) {
    error_.emplace(ErrorCode::invalid_argument,
                   fmt::format("{}: {} = {}: must be a table", document_.where(path_), path_.back(), render(*node)));
  }
}

const toml::node* Section::find(std::string_view key) const {
  return table_ == nullptr || failed() ? nullptr : table_->get(key);
}

std::string Section::label() const {
  std::string name;
  for (const auto& key : path_) name += (name.empty() ? "" : ".") + key;
  return name.empty() ? name : "[" + name + "]";
}

void Section::refuse(std::string_view key, std::string_view what) {
  if (failed()) return;
  TomlPath path = path_;
  path.emplace_back(key);
  const auto* node = table_ == nullptr ? nullptr : table_->get(key);
  const std::string table = label();
  error_.emplace(ErrorCode::invalid_argument,
                 fmt::format("{}: {}{}{}{}: {}", document_.where(path), table, table.empty() ? "" : " ", key,
                             node == nullptr ? std::string() : " = " + render(*node), what));
}

void Section::refuse_table(std::string_view what) {
  if (failed()) return;
  error_.emplace(ErrorCode::invalid_argument, fmt::format("{}: {}: {}", document_.where(path_), label(), what));
}

void Section::allow(const std::vector<std::string_view>& known) {
  if (table_ == nullptr) return;
  for (const auto& [key, value] : *table_) {
    if (failed()) return;
    if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
    refuse(key.str(), "unknown key; " + options(key.str(), known));
  }
}

void Section::require(std::string_view key, std::string_view example) {
  if (!present() || failed() || table_->get(key) != nullptr) return;
  refuse_table(fmt::format("{} is missing, e.g. {} = {}", key, key, example));
}

void Section::read(std::string_view key, std::string& out) {
  const auto* node = find(key);
  if (node == nullptr) return;
  const auto* text = node->as_string();
  if (text == nullptr) return refuse(key, "must be a string");
  if (text->get().empty()) return refuse(key, "must not be empty");
  if (text->get().size() > limits::kMaxTextBytes) {
    return refuse(key, fmt::format("is too long; at most {} bytes are allowed", limits::kMaxTextBytes));
  }
  out = text->get();
}

void Section::read(std::string_view key, bool& out) {
  const auto* node = find(key);
  if (node == nullptr) return;
  const auto* flag = node->as_boolean();
  if (flag == nullptr) return refuse(key, "must be true or false");
  out = flag->get();
}

void Section::read(std::string_view key, int& out, std::int64_t low, std::int64_t high) {
  const auto* node = find(key);
  if (node == nullptr) return;
  const auto* number = node->as_integer();
  if (number == nullptr) return refuse(key, fmt::format("must be an integer from {} to {}", low, high));
  if (number->get() < low) return refuse(key, fmt::format("must be at least {}; allowed: {} to {}", low, low, high));
  if (number->get() > high) return refuse(key, fmt::format("must be at most {}; allowed: {} to {}", high, low, high));
  out = static_cast<int>(number->get());
}

void Section::read(std::string_view key, double& out, double low, double high) {
  const auto* node = find(key);
  if (node == nullptr) return;
  const auto number = node->is_number() ? node->value<double>() : std::nullopt;
  if (!number || !(*number >= low && *number <= high)) {
    return refuse(key, fmt::format("must be a number from {} to {}", low, high));
  }
  out = *number;
}

void Section::read(std::string_view key, std::vector<std::string>& out) {
  const auto* node = find(key);
  if (node == nullptr) return;
  const auto* list = node->as_array();
  if (list == nullptr) return refuse(key, "must be a list of strings");
  if (list->empty()) return refuse(key, "must not be empty");
  out.clear();
  for (const auto& item : *list) {
    if (!item.is_string()) return refuse(key, fmt::format("must be a list of strings, but has {}", render(item)));
    out.push_back(item.as_string()->get());
  }
}

void Section::read_bytes(std::string_view key, std::int64_t& out, std::int64_t low) {
  const auto* node = find(key);
  if (node == nullptr) return;
  std::int64_t bytes = 0;
  if (const auto* text = node->as_string()) {
    const auto parsed = parse_byte_size(text->get());
    if (!parsed) return refuse(key, parsed.error().message());
    bytes = *parsed;
  } else if (const auto* number = node->as_integer()) {
    bytes = number->get();
  } else {
    return refuse(key, "must be a size such as \"512M\" or \"1.5G\", or a number of bytes");
  }
  if (bytes < low) return refuse(key, fmt::format("must be at least {}", format_byte_size(low)));
  out = bytes;
}

void Section::read_choice(std::string_view key, std::size_t& out, const std::vector<std::string_view>& names) {
  std::string name;
  read(key, name);
  if (name.empty()) return;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return refuse(key, "not known; " + options(name, names));
  out = static_cast<std::size_t>(found - names.begin());
}

void Section::read_scalars(std::string_view key, std::vector<Value>& out, std::size_t most) {
  const auto* node = find(key);
  if (node == nullptr) return;
  out.clear();
  if (const auto single = scalar(*node)) {
    out.push_back(*single);
  } else if (const auto* list = node->as_array()) {
    if (list->empty()) return refuse(key, "must name at least one value");
    if (list->size() > most)
      return refuse(key, fmt::format("has {} values; at most {} are allowed", list->size(), most));
    for (const auto& item : *list) {
      const auto value = scalar(item);
      if (!value)
        return refuse(key, fmt::format("must be a list of booleans, numbers or strings, but has {}", render(item)));
      out.push_back(*value);
    }
  } else {
    return refuse(key, "must be a boolean, a number, a string, or a list of such");
  }
  for (const auto& value : out) {
    const auto* number = std::get_if<double>(&value);
    if (number != nullptr && !std::isfinite(*number)) return refuse(key, "numbers must be finite");
    const auto* text = std::get_if<std::string>(&value);
    if (text != nullptr && text->size() > limits::kMaxTextBytes) {
      return refuse(key, fmt::format("a string is too long; at most {} bytes are allowed", limits::kMaxTextBytes));
    }
  }
}

}  // namespace tandem::tuner
