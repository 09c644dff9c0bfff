#include "runtime/executor/tree_reduction.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/base/random.hpp"
#include "runtime/executor/local_executor.hpp"

namespace tandem::runtime {
namespace {

std::string reduce_in_order(std::size_t leaves, const std::vector<std::size_t>& order) {
  TreeReduction<std::string> reduction(leaves,
                                       [](std::string left, std::string right) { return "(" + left + right + ")"; });
  for (const std::size_t leaf : order) reduction.put(leaf, std::string(1, static_cast<char>('a' + leaf)));
  return reduction.take();
}

TEST_CASE("the tree is the same for every order of arrival") {
  const std::vector<std::string> expected = {
      "a", "(ab)", "((ab)c)", "((ab)(cd))", "(((ab)(cd))e)", "(((ab)(cd))(ef))", "(((ab)(cd))((ef)g))"};
  Random random(7);
  for (std::size_t leaves = 1; leaves <= expected.size(); ++leaves) {
    std::vector<std::size_t> order(leaves);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (int repetition = 0; repetition < 50; ++repetition) {
      CHECK(reduce_in_order(leaves, order) == expected[leaves - 1]);
      random.shuffle(std::span<std::size_t>(order));
    }
  }
}

TEST_CASE("a floating-point sum is bitwise the same for any number of threads") {
  Random random(3);
  std::vector<float> values(1'001);
  for (float& value : values) value = static_cast<float>(random.normal());
  const auto sum = [&](int slots) {
    LocalExecutor executor;
    REQUIRE(executor.resize(slots));
    TreeReduction<float> reduction(values.size(), [](float left, float right) { return left + right; });
    REQUIRE(executor.run_chunks(static_cast<std::int64_t>(values.size()), [&](std::int64_t chunk, int) -> Result<> {
      reduction.put(static_cast<std::size_t>(chunk), values[static_cast<std::size_t>(chunk)]);
      return {};
    }));
    return reduction.take();
  };
  const float expected = sum(1);
  for (int repetition = 0; repetition < 20; ++repetition) {
    CHECK(sum(2) == expected);
    CHECK(sum(4) == expected);
  }
}

}  // namespace
}  // namespace tandem::runtime
