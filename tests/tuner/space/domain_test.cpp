#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cmath>
#include <map>
#include <set>

#include "tuner/space/domain.hpp"

using namespace tandem;
using namespace tandem::tuner;

namespace {

const std::string& message_of(const Result<>& result) {
  static const std::string none;
  return result ? none : result.error().message();
}

}  // namespace

TEST_CASE("a float grid holds its last value and does not drift") {
  struct Case {
    double low, high, step;
    std::uint64_t size;
    double last;
  };
  for (const Case& c : {Case{0.0, 1.0, 0.1, 11, 1.0}, Case{0.1, 0.3, 0.1, 3, 0.3}, Case{0.0, 0.9, 0.3, 4, 0.9},
                        Case{0.0, 1.0, 0.3, 4, 0.0 + 3 * 0.3}, Case{-1.0, 1.0, 0.25, 9, 1.0},
                        Case{1e-3, 1e-2, 1e-3, 10, 1e-2}, Case{0.0, 1.0, 1e-6, 1'000'001, 1.0}}) {
    CAPTURE(c.low);
    CAPTURE(c.step);
    const Domain domain = FloatDomain{c.low, c.high, c.step, false};
    REQUIRE(domain_size(domain) == c.size);
    CHECK(domain_value(domain, c.size - 1) == Value(c.last));
    CHECK(domain_value(domain, 0) == Value(c.low));
    for (const std::uint64_t i : {std::uint64_t{1}, c.size / 2, c.size - 2}) {
      CHECK(domain_value(domain, i) == Value(c.low + static_cast<double>(i) * c.step));
    }
  }
}

TEST_CASE("an integer grid is inclusive and leaves out what lies between its steps") {
  CHECK(domain_size(IntDomain{64, 256, 32, false}) == 7u);
  CHECK(domain_value(IntDomain{64, 256, 32, false}, 6) == Value(std::int64_t{256}));
  CHECK(domain_size(IntDomain{1, 10, 4, false}) == 3u);
  CHECK(domain_value(IntDomain{1, 10, 4, false}, 2) == Value(std::int64_t{9}));
  CHECK(domain_size(IntDomain{-3, 3, 1, false}) == 7u);
}

TEST_CASE("every value of a small domain is drawn, both ends included") {
  for (const Domain& domain :
       {Domain(IntDomain{1, 5, 1, false}), Domain(IntDomain{1, 9, 2, true}), Domain(FloatDomain{0.1, 0.5, 0.1, false}),
        Domain(FloatDomain{1, 5, 1, true}), Domain(ChoiceDomain{{Value("a"), Value("b"), Value("c")}})}) {
    Random random(7);
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 2000; ++i) {
      const auto index = domain_index(domain, sample_domain(domain, random));
      REQUIRE(index);
      seen.insert(*index);
    }
    CHECK(seen.size() == domain_size(domain));
  }
}

TEST_CASE("a log range gives each decade the same share") {
  const Domain domain = FloatDomain{1e-4, 1e-1, 0, true};
  Random random(11);
  std::map<int, int> decades;
  constexpr int kDraws = 30000;
  for (int i = 0; i < kDraws; ++i) {
    const double value = std::get<double>(sample_domain(domain, random));
    REQUIRE(value >= 1e-4);
    REQUIRE(value <= 1e-1);
    ++decades[static_cast<int>(std::floor(std::log10(value)))];
  }
  for (const int decade : {-4, -3, -2}) CHECK(std::abs(decades[decade] - kDraws / 3) < kDraws / 50);
}

TEST_CASE("unusable domains are refused with the reason") {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<Domain, std::string>> cases{
      {FloatDomain{1, 1, 0, false}, "low must be less than high"},
      {FloatDomain{2, 1, 0, false}, "low must be less than high"},
      {FloatDomain{0, inf, 0, false}, "must be finite"},
      {FloatDomain{-1e308, 1e308, 0, false}, "too large"},
      {FloatDomain{0, 1, 0, true}, "low > 0"},
      {FloatDomain{0, 1, -0.1, false}, "step must be greater than 0"},
      {FloatDomain{0, 1, 2, false}, "step must be at most"},
      {FloatDomain{0, 1, 1e-12, false}, "step is too small"},
      {IntDomain{3, 3, 1, false}, "low must be less than high"},
      {IntDomain{0, 3, 1, true}, "low > 0"},
      {IntDomain{0, 3, 0, false}, "step must be greater than 0"},
      {IntDomain{0, 3, 4, false}, "step must be at most"},
      {IntDomain{0, std::numeric_limits<std::int64_t>::max(), 1, false}, "2^53"},
      {ChoiceDomain{}, "at least one"},
      {ChoiceDomain{{Value(std::int64_t{1}), Value("a")}}, "mixes integer and string"},
      {ChoiceDomain{{Value("a"), Value("b"), Value("a")}}, "names \"a\" twice"},
      {ChoiceDomain{{Value(inf)}}, "must be finite"},
  };
  for (const auto& [domain, words] : cases) {
    CAPTURE(words);
    CHECK(message_of(check_domain(domain)).find(words) != std::string::npos);
  }
}

TEST_CASE("values come to the domain's own type, or are refused with what is allowed") {
  CHECK(*normalize_value(FloatDomain{0, 5, 0, false}, std::int64_t{3}) == Value(3.0));
  CHECK(*normalize_value(IntDomain{0, 5, 1, false}, 3.0) == Value(std::int64_t{3}));
  CHECK(*normalize_value(FloatDomain{0, 1, 0.1, false}, 0.3) == Value(3 * 0.1));
  CHECK(*normalize_value(ChoiceDomain{{Value(0.5), Value(1.0)}}, std::int64_t{1}) == Value(1.0));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Value& value : {Value(0.35), Value(nan), Value("0.3"), Value(true), Value(-0.1), Value(1.1)}) {
    const auto refused = normalize_value(FloatDomain{0, 1, 0.1, false}, value);
    REQUIRE(!refused);
    CHECK(refused.error().message().find("a float from 0 to 1 in steps of 0.1") != std::string::npos);
  }
  CHECK(!normalize_value(IntDomain{0, 10, 5, false}, std::int64_t{3}));
  CHECK(!normalize_value(IntDomain{0, 10, 5, false}, 2.5));
  CHECK(!normalize_value(FloatDomain{0, 1, 0, false}, nan));
}

TEST_CASE("numbers that ascend are ordinal, other choices are not") {
  CHECK(is_ordinal({{Value(std::int64_t{1}), Value(std::int64_t{8})}}));
  CHECK(is_ordinal({{Value(0.1), Value(0.5)}}));
  CHECK_FALSE(is_ordinal({{Value(std::int64_t{8}), Value(std::int64_t{1})}}));
  CHECK_FALSE(is_ordinal({{Value("a"), Value("b")}}));
}

TEST_CASE("property: index and value of a float grid are inverse, and samples lie on it") {
  CHECK(rc::check([] {
    const double low = *rc::gen::inRange(-1000, 1000) * 0.01;
    const double step = *rc::gen::inRange(1, 100) * 0.01;
    const auto steps = *rc::gen::inRange<std::uint64_t>(1, 500);
    const Domain domain = FloatDomain{low, low + static_cast<double>(steps) * step, step, false};
    RC_ASSERT(check_domain(domain).has_value());
    RC_ASSERT(*domain_size(domain) == steps + 1);
    const auto index = *rc::gen::inRange<std::uint64_t>(0, steps + 1);
    const Value value = domain_value(domain, index);
    RC_ASSERT(domain_index(domain, value) == index);
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    const auto drawn = domain_index(domain, sample_domain(domain, random));
    RC_ASSERT(drawn.has_value());
    RC_ASSERT(*drawn <= steps);
  }));
}
