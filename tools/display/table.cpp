#include "tools/display/table.hpp"

#include <algorithm>
#include <climits>

#include "tools/display/text_width.hpp"

namespace tandem::tools {

Table::Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

void Table::add_row(std::vector<std::string> cells) {
  cells.resize(rows_.front().size());
  for (auto& cell : cells) cell = fit_text(cell, INT_MAX);
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<int> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], text_width(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += pad_text(row[i], widths[i]) + "  ";
    text += line.erase(line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace tandem::tools
