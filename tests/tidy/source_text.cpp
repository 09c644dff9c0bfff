#include "tests/tidy/source_text.hpp"

#include <algorithm>
#include <cctype>

namespace tandem::tidy {
namespace {

bool in_word(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_'; }

/// Where a comment or literal that begins at `at` ends (one past); `at` itself if none begins there.
std::size_t end_of_hidden(const std::string& text, std::size_t at) {
  const auto until = [&text](std::string_view mark, std::size_t from) {
    const std::size_t found = text.find(mark, from);
    return found == std::string::npos ? text.size() : found + mark.size();
  };
  if (text.compare(at, 2, "//") == 0) return std::min(text.find('\n', at), text.size());
  if (text.compare(at, 2, "/*") == 0) return until("*/", at + 2);
  const bool after_word = at > 0 && in_word(text[at - 1]);
  if (text[at] == '"' && at > 0 && text[at - 1] == 'R') {
    const std::size_t open = text.find('(', at);
    return until(")" + text.substr(at + 1, open - at - 1) + "\"", open);
  }
  // An apostrophe inside a number separates digits.
  if (text[at] != '"' && (text[at] != '\'' || after_word)) return at;
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == text[at] || text[i] == '\n') {
      return i + 1;
    }
  }
  return text.size();
}

}  // namespace

SourceText::SourceText(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {
  blank_comments_and_literals();
  find_includes();
}

void SourceText::blank_comments_and_literals() {
  code_ = text_;
  for (std::size_t at = 0; at < text_.size();) {
    const std::size_t end = end_of_hidden(text_, at);
    for (std::size_t i = at; i < end; ++i) {
      if (code_[i] != '\n') code_[i] = ' ';
    }
    at = std::max(end, at + 1);
  }
}

void SourceText::find_includes() {
  int line = 1;
  for (std::size_t begin = 0; begin < text_.size(); ++line) {
    const std::size_t end = std::min(text_.find('\n', begin), text_.size());
    // The code says whether it is one; the text has the path.
    std::string_view shape = std::string_view(code_).substr(begin, end - begin);
    const std::string_view row = std::string_view(text_).substr(begin, end - begin);
    const std::size_t open = row.find_first_of("<\"");
    const std::size_t hash = shape.find_first_not_of(" \t");
    if (hash != std::string_view::npos && shape.substr(hash).starts_with("#include") &&
        open != std::string_view::npos) {
      const std::size_t close = row.find_first_of(">\"", open + 1);
      includes_.push_back({std::string(row.substr(open + 1, close - open - 1)), row[open] == '<', line});
    }
    begin = end + 1;
  }
}

std::vector<Word> SourceText::words() const {
  std::vector<Word> words;
  const std::string_view code = code_;
  int line = 1;
  for (std::size_t at = 0; at < code.size();) {
    if (code[at] == '\n') ++line;
    std::size_t end = at;
    while (end < code.size() && in_word(code[end])) ++end;
    if (end > at) words.push_back({code.substr(at, end - at), code.substr(0, at), code.substr(end), line});
    at = std::max(end, at + 1);
  }
  return words;
}

int SourceText::line_at(std::size_t offset) const {
  return 1 + static_cast<int>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
}

}  // namespace tandem::tidy
