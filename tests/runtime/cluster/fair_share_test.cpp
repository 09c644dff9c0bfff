#include "runtime/cluster/fair_share.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "runtime/base/random.hpp"

using namespace tandem;
using namespace tandem::runtime;

namespace {

struct Case {
  std::vector<NodeCapacity> nodes;
  std::vector<Claim> claims;
  std::vector<int> slots;
};

}  // namespace

TEST_CASE("cores are shared evenly, what one does not want goes to the others") {
  const std::vector<Case> cases{
      {{{8, 100}}, {{1, 0, 100}}, {8}},
      {{{8, 100}}, {{1, 0, 100}, {1, 0, 100}}, {4, 4}},
      {{{8, 100}}, {{1, 0, 2}, {1, 0, 100}}, {2, 6}},
      {{{8, 100}}, {{2, 0, 100}, {1, 0, 100}}, {2, 4}},            // equal cores, not equal slots
      {{{4, 100}, {4, 100}}, {{3, 0, 100}}, {2}},                  // a piece does not span nodes
      {{{8, 100}}, {{1, 40, 100}}, {2}},                           // memory bounds it
      {{{8, 100}}, {{9, 0, 100}, {1, 0, 100}}, {0, 8}},            // one that never fits takes nothing
      {{{2, 100}}, {{1, 0, 9}, {1, 0, 9}, {1, 0, 9}}, {1, 1, 0}},  // the earlier claims first
      {{}, {{1, 0, 9}}, {0}},
      {{{8, 100}}, {}, {}},
  };
  for (const Case& each : cases) {
    CAPTURE(&each - cases.data());
    CHECK(fair_shares(each.nodes, each.claims) == each.slots);
  }
}

TEST_CASE("nobody gets more than was asked for, or holds a slot more than one who still wants and fits") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    std::vector<NodeCapacity> nodes;
    for (auto i = random.uniform_int(1, 4); i > 0; --i) {
      nodes.push_back({static_cast<int>(random.uniform_int(1, 16)), 1000});
    }
    std::vector<Claim> claims;
    for (auto i = random.uniform_int(1, 5); i > 0; --i) {
      claims.push_back({1, 0, static_cast<int>(random.uniform_int(0, 20))});
    }
    const auto slots = fair_shares(nodes, claims);
    int wanted = 0, cores = 0;
    for (const auto& node : nodes) cores += node.cores;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      wanted += claims[i].slots;
      CHECK(slots[i] <= claims[i].slots);
      for (std::size_t k = 0; k < claims.size(); ++k) {
        if (slots[k] < claims[k].slots) CHECK(slots[i] <= slots[k] + 1);
      }
    }
    CHECK(std::accumulate(slots.begin(), slots.end(), 0) == std::min(wanted, cores));  // nothing lies idle
  }
}
