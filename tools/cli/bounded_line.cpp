#include "tools/cli/bounded_line.hpp"

#include <limits>

namespace tandem::tools {

LineRead read_line(std::istream& in, std::string& line, std::size_t limit_bytes) {
  line.clear();
  std::streambuf* buffer = in.rdbuf();
  for (;;) {
    const int letter = buffer->sbumpc();
    if (letter == std::char_traits<char>::eof()) {
      if (!line.empty()) break;
      return LineRead::end;
    }
    if (letter == '\n') break;
    if (line.size() == limit_bytes) {
      in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
      return LineRead::too_long;
    }
    line += static_cast<char>(letter);
  }
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return LineRead::line;
}

}  // namespace tandem::tools
