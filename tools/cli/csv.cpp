#include "tools/cli/csv.hpp"

namespace tandem::tools {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + '"';
}

std::string csv_record(const std::vector<std::string>& fields) {
  std::string record;
  for (const auto& field : fields) {
    if (&field != &fields.front()) record += ',';
    record += csv_field(field);
  }
  return record + "\r\n";
}

}  // namespace tandem::tools
