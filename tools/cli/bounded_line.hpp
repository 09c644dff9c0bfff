/// read_line: a line of bounded length, so that a client that never ends one cannot fill the memory.
#pragma once

#include <istream>
#include <string>

namespace tandem::tools {

enum class LineRead { line, too_long, end };

/// Without its "\n" (or "\r\n"). Of a line that is too long the rest is skipped; a last line may lack its end.
[[nodiscard]] LineRead read_line(std::istream& in, std::string& line, std::size_t limit_bytes);

}  // namespace tandem::tools
