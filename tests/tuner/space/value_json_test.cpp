#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>

#include "tuner/space/value_json.hpp"
#include "tuner/space/value_text.hpp"

using namespace tandem;
using namespace tandem::tuner;

TEST_CASE("non-finite numbers travel as strings, both ways") {
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(number_to_json(inf) == "inf");
  CHECK(number_to_json(-inf) == "-inf");
  CHECK(number_to_json(std::nan("")) == "nan");
  CHECK(*number_from_json("inf") == inf);
  CHECK(*number_from_json("-inf") == -inf);
  CHECK(std::isnan(*number_from_json("nan")));
  CHECK(*number_from_json(3) == 3.0);
  for (const auto& bad :
       {nlohmann::json("3"), nlohmann::json(true), nlohmann::json(nullptr), nlohmann::json::array()}) {
    CHECK(!number_from_json(bad));
  }
}

TEST_CASE("values keep their types") {
  const Parameters params{{"a", true}, {"b", std::int64_t{1}}, {"c", 1.0}, {"d", std::string("nan")}};
  CHECK(canonical_text(params) == R"({"a":true,"b":1,"c":1.0,"d":"nan"})");
  CHECK(*parameters_from_json(nlohmann::json::parse(canonical_text(params))) == params);
  CHECK(!parameters_from_json(nlohmann::json::parse(R"({"a":null})")));
  CHECK(!parameters_from_json(nlohmann::json::parse(R"({"a":[1]})")));
  CHECK(!parameters_from_json(nlohmann::json::parse(R"({"a":18446744073709551615})")));
  CHECK(!parameters_from_json(nlohmann::json::parse("[]")));
}

TEST_CASE("bytes that are not UTF-8 are replaced, not thrown at") {
  CHECK(to_text(Value(std::string("a\xff"))) == "\"a\xef\xbf\xbd\"");
}

TEST_CASE("property: doubles survive JSON bit by bit") {
  CHECK(rc::check([](std::uint64_t bits) {
    const double number = std::bit_cast<double>(bits);
    const auto back = number_from_json(nlohmann::json::parse(dump_json(number_to_json(number))));
    RC_ASSERT(back.has_value());
    RC_ASSERT((std::isnan(number) ? std::isnan(*back) : std::bit_cast<std::uint64_t>(*back) == bits));
  }));
}

TEST_CASE("the nearest name is found, and none when nothing is near") {
  const std::vector<std::string_view> known{"reduction_factor", "min_epochs", "variant"};
  CHECK(nearest_name("reduction_facter", known) == "reduction_factor");
  CHECK(nearest_name("min_epoch", known) == "min_epochs");
  CHECK(nearest_name("zzz", known).empty());
}
