#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "tools/display/sparkline.hpp"
#include "tools/display/table.hpp"
#include "tools/display/text_width.hpp"
#include "tools/display/words.hpp"

namespace tandem::tools {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMost = std::numeric_limits<double>::max();

TEST_CASE("width counts columns, not bytes") {
  CHECK(text_width("abc") == 3);
  CHECK(text_width("é×…") == 3);
  CHECK(text_width("漢字") == 4);
  CHECK(text_width("e\u0301") == 1);
  CHECK(text_width("\xff\xfe") == 2);
  CHECK(text_width("\xe2\x82") == 2);  // cut in the middle of a character
}

TEST_CASE("fitted text is never wider than asked, is cut between characters, and moves no cursor") {
  CHECK(fit_text("abcdef", 6) == "abcdef");
  CHECK(fit_text("abcdef", 4) == "abc…");
  CHECK(fit_text("abcdef", 4, false) == "abc~");
  CHECK(fit_text("漢字漢字", 4) == "漢…");
  CHECK(fit_text("a\x1b[2Jb\n", 20) == "a?[2Jb?");
  CHECK(fit_text("\xff", 3) == "?");
  CHECK(fit_text("é", 3, false) == "?");
  CHECK(fit_text("abc", 0) == "");
  for (int columns = 0; columns < 12; ++columns) CHECK(text_width(fit_text("aé漢\u0301bcd字", columns)) <= columns);
}

TEST_CASE("a sparkline spans from the lowest to the highest value") {
  CHECK(sparkline({0, 1}, 5) == "▁█");
  CHECK(sparkline({1, 2, 3, 4, 5, 6, 7, 8}, 8) == "▁▂▃▄▅▆▇█");
  CHECK(sparkline({9, 9, 0, 1}, 2) == "▁█");
  CHECK(sparkline({5, 5}, 5) == "▁▁");
  CHECK(sparkline({0, kNan, 1}, 5) == "▁!█");
  CHECK(sparkline({-kMost, kMost}, 5) == "▁█");
  CHECK(sparkline({}, 5) == "");
  CHECK(sparkline({1}, 0) == "");
  CHECK(sparkline({0, 1}, 5, false) == ".^");
}

TEST_CASE("a bar is as long as asked whatever the share") {
  CHECK(progress_bar(0.5, 4) == "━━╌╌");
  CHECK(progress_bar(0.5, 4, false) == "##..");
  for (const double share : {-1.0, 0.0, 0.3, 1.0, 7.0, kNan}) CHECK(text_width(progress_bar(share, 10)) == 10);
}

TEST_CASE("durations are short and round to what is shown") {
  CHECK(short_seconds(0) == "0 s");
  CHECK(short_seconds(3.4e-4) == "340 us");
  CHECK(short_seconds(0.0123) == "12.3 ms");
  CHECK(short_seconds(4.21) == "4.21 s");
  CHECK(short_seconds(59.97) == "1 min 00 s");
  CHECK(short_seconds(187) == "3 min 07 s");
  CHECK(short_seconds(7500) == "2 h 05 min");
  CHECK(short_seconds(-1) == "");
  CHECK(short_seconds(kNan) == "");
  CHECK(short_seconds(std::numeric_limits<double>::infinity()) == "ages");
}

TEST_CASE("parameters are listed by name without quotes") {
  CHECK(short_parameters({{"b", 0.0123456}, {"a", std::int64_t{64}}, {"c", std::string("sgd")}, {"d", true}}) ==
        "a=64 b=0.01235 c=sgd d=true");
}

TEST_CASE("a table aligns its columns and leaves no blanks at the end") {
  Table table({"name", "n"});
  table.add_row({"é", "10"});
  table.add_row({"longer", ""});
  CHECK(table.text() == "name    n\né       10\nlonger\n");
}

}  // namespace
}  // namespace tandem::tools
