/// CSV after RFC 4180: fields with a comma, a quote or a line break are quoted; lines end in CRLF.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tandem::tools {

[[nodiscard]] std::string csv_field(std::string_view text);
/// One record with its line end.
[[nodiscard]] std::string csv_record(const std::vector<std::string>& fields);

}  // namespace tandem::tools
