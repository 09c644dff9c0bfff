/// Table: rows of text in aligned columns.
#pragma once

#include <string>
#include <vector>

namespace tandem::tools {

class Table {
 public:
  explicit Table(std::vector<std::string> header);
  /// As many cells as the header has; control characters in them are shown as '?'.
  void add_row(std::vector<std::string> cells);
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;  ///< the header first
};

}  // namespace tandem::tools
