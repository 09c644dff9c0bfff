#include "actors/workloads/digits_csv.hpp"

#include <algorithm>
#include <charconv>

#include "actors/workloads/limits.hpp"

namespace tandem::actors {

namespace {

constexpr std::size_t kShownBytes = 20;

std::string_view trimmed(std::string_view cell) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!cell.empty() && blank(cell.front())) cell.remove_prefix(1);
  while (!cell.empty() && blank(cell.back())) cell.remove_suffix(1);
  return cell;
}

struct Place {
  std::string_view name;
  std::size_t line;
};

Result<std::uint8_t> parse_cell(std::string_view cell, std::size_t column, int maximum, const Place& place) {
  cell = trimmed(cell);
  int value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error == std::errc::invalid_argument || end != cell.data() + cell.size()) {
    return fail(ErrorCode::data_loss, "{}: line {}, column {}: '{}' is not a whole number", place.name, place.line,
                column, cell.substr(0, kShownBytes));
  }
  if (error != std::errc() || value < 0 || value > maximum) {
    return fail(ErrorCode::data_loss, "{}: line {}, column {}: {} is outside 0 to {}", place.name, place.line, column,
                cell.substr(0, kShownBytes), maximum);
  }
  return static_cast<std::uint8_t>(value);
}

Result<> parse_row(std::string_view row, const CsvShape& shape, const Place& place, LabelledImages& images) {
  const std::size_t columns = images.pixels_per_image() + 1;
  const auto found = static_cast<std::size_t>(std::count(row.begin(), row.end(), ',')) + 1;
  if (found != columns) {
    return fail(ErrorCode::data_loss, "{}: line {}: {} columns, but {} are needed ({} pixels and a label)", place.name,
                place.line, found, columns, columns - 1);
  }
  for (std::size_t column = 1; column <= columns; ++column) {
    const std::size_t comma = std::min(row.find(','), row.size());
    const bool label = column == columns;
    const auto value = parse_cell(row.substr(0, comma), column, label ? shape.classes - 1 : shape.pixel_maximum, place);
    if (!value) return forward_error(value);
    (label ? images.labels : images.pixels).push_back(*value);
    row.remove_prefix(std::min(comma + 1, row.size()));
  }
  return {};
}

}  // namespace

Result<LabelledImages> parse_csv_images(std::string_view text, const CsvShape& shape, std::string_view name) {
  LabelledImages images;
  images.height = shape.height;
  images.width = shape.width;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.empty() && text.empty()) break;  // a newline at the very end
    if (row.size() > kCsvLineBytes) {
      return fail(ErrorCode::data_loss, "{}: line {}: longer than {} bytes", name, line, kCsvLineBytes);
    }
    if (auto parsed = parse_row(row, shape, {name, line}, images); !parsed) return forward_error(parsed);
  }
  if (images.labels.empty()) return fail(ErrorCode::data_loss, "{}: no rows", name);
  return images;
}

}  // namespace tandem::actors
