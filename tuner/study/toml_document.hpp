/// TomlDocument: a parsed TOML file with overrides applied, that knows where each value came from; and Section, which
/// reads one table of it and refuses what does not belong there. Private to tuner/study.
#pragma once

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "tuner/space/value.hpp"

namespace tandem::tuner {

/// Keys from the root to a value.
using TomlPath = std::vector<std::string>;

class TomlDocument {
 public:
  static Result<TomlDocument> parse(std::string_view text, std::string_view file_name,
                                    const std::vector<std::string>& overrides);

  [[nodiscard]] const toml::table& root() const noexcept { return root_; }
  /// "FILE:LINE", or "--set key=value" when an override set it.
  [[nodiscard]] std::string where(const TomlPath& path) const;
  /// The text with the overrides applied.
  [[nodiscard]] std::string source() const;

 private:
  Result<> apply(const std::string& override_text);
  [[nodiscard]] const toml::node* find(const TomlPath& path) const;

  std::string file_name_;
  std::string text_;
  toml::table root_;
  std::map<TomlPath, std::string> overrides_;
};

/// The value on one line, shortened: { low = 1, high = 2 }.
[[nodiscard]] std::string render(const toml::node& node);
/// "did you mean NEAREST? LABEL: a, b, c", without the question when nothing is near.
[[nodiscard]] std::string options(std::string_view word, const std::vector<std::string_view>& known,
                                  std::string_view label = "allowed");
/// A boolean, integer, float or string; nullopt for anything else.
[[nodiscard]] std::optional<Value> scalar(const toml::node& node);

/// Reads one table. The first error stays in `error`, and every later call does nothing, so that a reader can be
/// written without a check after each line. An absent table has no keys.
class Section {
 public:
  Section(const TomlDocument& document, TomlPath path, std::optional<Error>& error);

  [[nodiscard]] bool present() const noexcept { return table_ != nullptr; }
  [[nodiscard]] bool failed() const noexcept { return error_.has_value(); }
  [[nodiscard]] const toml::node* find(std::string_view key) const;
  [[nodiscard]] const toml::table* table() const noexcept { return table_; }

  /// Refuses every key that is not one of `known`, with the nearest one as a suggestion.
  void allow(const std::vector<std::string_view>& known);
  void require(std::string_view key, std::string_view example);

  // Each leaves `out` as it is when the key is absent.
  void read(std::string_view key, std::string& out);
  void read(std::string_view key, bool& out);
  void read(std::string_view key, int& out, std::int64_t low, std::int64_t high);
  void read(std::string_view key, double& out, double low, double high);
  void read(std::string_view key, std::vector<std::string>& out);
  /// "512M", or a number of bytes.
  void read_bytes(std::string_view key, std::int64_t& out, std::int64_t low);
  /// One of `names`; `out` is its index.
  void read_choice(std::string_view key, std::size_t& out, const std::vector<std::string_view>& names);
  /// A list of scalars, or one scalar.
  void read_scalars(std::string_view key, std::vector<Value>& out, std::size_t most);

  /// "FILE:LINE: [table] key = value: what"
  void refuse(std::string_view key, std::string_view what);
  /// "FILE:LINE: [table]: what"
  void refuse_table(std::string_view what);

 private:
  [[nodiscard]] std::string label() const;

  const TomlDocument& document_;
  TomlPath path_;
  std::optional<Error>& error_;
  const toml::table* table_ = nullptr;
};

}  // namespace tandem::tuner
