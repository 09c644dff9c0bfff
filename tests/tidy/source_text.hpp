/// SourceText: a C++ file as the tidy rules look at it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tandem::tidy {

struct Include {
  std::string path;
  bool angled = false;  ///< <…>
  int line = 0;
};

/// An identifier in the code, with what stands around it.
struct Word {
  std::string_view text;
  std::string_view before;  ///< code before it, back to the file's beginning
  std::string_view after;   ///< code after it
  int line = 0;
};

class SourceText {
 public:
  /// `path` is relative to the repository.
  SourceText(std::string path, std::string text);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// Comments and literals blanked, lines kept.
  [[nodiscard]] const std::string& code() const noexcept { return code_; }
  [[nodiscard]] const std::vector<Include>& includes() const noexcept { return includes_; }
  [[nodiscard]] std::vector<Word> words() const;
  [[nodiscard]] bool is_header() const { return path_.ends_with(".hpp"); }
  [[nodiscard]] int line_at(std::size_t offset) const;

 private:
  void blank_comments_and_literals();
  void find_includes();

  std::string path_;
  std::string text_;
  std::string code_;
  std::vector<Include> includes_;
};

}  // namespace tandem::tidy
