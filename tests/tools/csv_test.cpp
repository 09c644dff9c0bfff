#include "tools/cli/csv.hpp"

#include <doctest/doctest.h>

namespace tandem::tools {
namespace {

TEST_CASE("only fields that need it are quoted, and quotes are doubled") {
  CHECK(csv_field("plain text") == "plain text");
  CHECK(csv_field("") == "");
  CHECK(csv_field("a,b") == "\"a,b\"");
  CHECK(csv_field("say \"no\"") == "\"say \"\"no\"\"\"");
  CHECK(csv_field("two\nlines") == "\"two\nlines\"");
  CHECK(csv_field("return\r") == "\"return\r\"");
}

TEST_CASE("a record ends in CRLF and keeps empty fields") {
  CHECK(csv_record({"a", "", "c,d"}) == "a,,\"c,d\"\r\n");
  CHECK(csv_record({""}) == "\r\n");
}

}  // namespace
}  // namespace tandem::tools
