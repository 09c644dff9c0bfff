#include "tools/cli/bounded_line.hpp"

#include <doctest/doctest.h>

#include <sstream>

namespace tandem::tools {
namespace {

TEST_CASE("lines come without their ends, the last one with or without") {
  std::istringstream in("one\ntwo\r\n\nlast");
  std::string line;
  CHECK(read_line(in, line, 100) == LineRead::line);
  CHECK(line == "one");
  CHECK(read_line(in, line, 100) == LineRead::line);
  CHECK(line == "two");
  CHECK(read_line(in, line, 100) == LineRead::line);
  CHECK(line.empty());
  CHECK(read_line(in, line, 100) == LineRead::line);
  CHECK(line == "last");
  CHECK(read_line(in, line, 100) == LineRead::end);
}

TEST_CASE("a line of the limit is taken, a longer one is skipped whole") {
  std::istringstream in("12345\n123456\nnext\n1234567");
  std::string line;
  CHECK(read_line(in, line, 5) == LineRead::line);
  CHECK(line == "12345");
  CHECK(read_line(in, line, 5) == LineRead::too_long);
  CHECK(read_line(in, line, 5) == LineRead::line);
  CHECK(line == "next");
  CHECK(read_line(in, line, 5) == LineRead::too_long);
  CHECK(read_line(in, line, 5) == LineRead::end);
}

}  // namespace
}  // namespace tandem::tools
