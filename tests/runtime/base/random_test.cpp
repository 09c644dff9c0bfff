#include "runtime/base/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace tandem {

TEST_CASE("the same seed gives the same numbers, and a stored state goes on where it was") {
  Random a(7), b(7), c(8);
  CHECK(a.next() == b.next());
  CHECK(a.next() != c.next());
  const Random::State kept = a.state();
  const auto following = a.next();
  CHECK(Random(kept).next() == following);
}

TEST_CASE("uniform integers reach both bounds and favour none") {
  Random random(1);
  std::array<int, 5> counts{};
  for (int i = 0; i < 50'000; ++i) ++counts.at(static_cast<std::size_t>(random.uniform_int(-2, 2) + 2));
  for (const int count : counts) CHECK(std::abs(count - 10'000) < 500);
}

TEST_CASE("normal numbers have mean 0 and variance 1") {
  Random random(3);
  double sum = 0, squares = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
  }
  CHECK(std::abs(sum / kDraws) < 0.02);
  CHECK(std::abs(squares / kDraws - 1) < 0.03);
}

TEST_CASE("a shuffle keeps every item") {
  Random random(5);
  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 0);
  const auto before = items;
  random.shuffle(std::span(items));
  CHECK(items != before);
  std::sort(items.begin(), items.end());
  CHECK(items == before);
}

TEST_CASE("mixing depends on the order of what is mixed") {
  CHECK(mix_seed(mix_seed(1, 2), 3) != mix_seed(mix_seed(1, 3), 2));
  CHECK(mix_seed(1, "search") != mix_seed(1, "schedule"));
}

}  // namespace tandem
