#include "runtime/cluster/placement.hpp"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "runtime/base/limits.hpp"

namespace tandem::runtime {
namespace {

constexpr std::int64_t kGiB = 1LL << 30;

PlacementNode node(const std::string& name, std::int64_t total, std::int64_t free, std::int64_t memory_gib = 16) {
  return {static_cast<std::uint64_t>(name.front()), name, {total, memory_gib * kGiB}, {free, memory_gib * kGiB}};
}

PlacementRequest cores(std::vector<std::int64_t> each, PlacementStrategy strategy) {
  PlacementRequest request;
  for (const std::int64_t count : each) request.bundles.push_back({count, 0});
  request.strategy = strategy;
  return request;
}

bool holds(const std::vector<PlacementNode>& nodes, const PlacementRequest& request, const Placement& placement,
           Resources PlacementNode::*column) {
  std::vector<Resources> used(nodes.size());
  for (std::size_t i = 0; i < placement.size(); ++i) used[placement[i]] += request.bundles[i];
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!used[i].fits_in(nodes[i].*column)) return false;
  }
  return true;
}

bool suits(PlacementStrategy strategy, const Placement& placement) {
  const std::set<std::size_t> distinct(placement.begin(), placement.end());
  if (strategy == PlacementStrategy::strict_pack) return distinct.size() == 1;
  if (strategy == PlacementStrategy::strict_spread) return distinct.size() == placement.size();
  return true;
}

/// Every assignment there is.
bool possible(const std::vector<PlacementNode>& nodes, const PlacementRequest& request,
              Resources PlacementNode::*column) {
  Placement placement(request.bundles.size(), 0);
  for (;;) {
    if (suits(request.strategy, placement) && holds(nodes, request, placement, column)) return true;
    std::size_t digit = 0;
    while (digit < placement.size() && ++placement[digit] == nodes.size()) placement[digit++] = 0;
    if (digit == placement.size()) return false;
  }
}

struct Case {
  std::string name;
  std::vector<PlacementNode> nodes;
  PlacementRequest request;
  Placement expected;
};

std::vector<PlacementNode> random_nodes() {
  const auto count = *rc::gen::inRange<std::size_t>(1, 4);
  std::vector<PlacementNode> nodes;
  for (std::size_t i = 0; i < count; ++i) {
    const auto total = *rc::gen::inRange<std::int64_t>(0, 9);
    const auto memory = *rc::gen::inRange<std::int64_t>(0, 9);
    const Resources free{*rc::gen::inRange<std::int64_t>(0, total + 1), *rc::gen::inRange<std::int64_t>(0, memory + 1)};
    nodes.push_back({i + 1, std::string(1, static_cast<char>('a' + i)), {total, memory}, free});
  }
  return nodes;
}

PlacementRequest random_request() {
  PlacementRequest request;
  const auto count = *rc::gen::inRange<std::size_t>(1, 5);
  for (std::size_t i = 0; i < count; ++i) {
    request.bundles.push_back({*rc::gen::inRange<std::int64_t>(0, 6), *rc::gen::inRange<std::int64_t>(0, 6)});
  }
  request.strategy = *rc::gen::element(PlacementStrategy::pack, PlacementStrategy::spread,
                                       PlacementStrategy::strict_pack, PlacementStrategy::strict_spread);
  return request;
}

}  // namespace

TEST_CASE("each strategy takes the nodes it is named for") {
  using enum PlacementStrategy;
  const std::vector<PlacementNode> three = {node("a", 8, 8), node("b", 4, 4), node("c", 8, 6)};
  const Case cases[] = {
      {"pack takes the one node that is filled best", three, cores({2, 2}, pack), {1, 1}},
      {"pack takes a second node only when it must", three, cores({8, 4}, pack), {0, 2}},
      {"pack goes on where it has begun", three, cores({5, 2, 2, 2}, pack), {0, 0, 2, 2}},
      {"spread takes the emptiest first, each its own", three, cores({1, 1, 1}, spread), {0, 2, 1}},
      {"spread doubles up when nodes run out", three, cores({1, 1, 1, 1}, spread), {0, 2, 1, 0}},
      {"strict pack passes over nodes too small for all", three, cores({4, 3}, strict_pack), {0, 0}},
      {"strict spread gives the large bundle the large node", three, cores({1, 8}, strict_spread), {2, 0}},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    const auto placed = place(each.nodes, each.request);
    REQUIRE(placed);
    REQUIRE(placed->has_value());
    CHECK(**placed == each.expected);
  }
}

TEST_CASE("of nodes that suit equally the one with most of the data is taken") {
  const std::vector<PlacementNode> nodes = {node("a", 4, 4), node("b", 4, 4), node("c", 4, 4)};
  const std::vector<std::uint64_t> bytes = {10, 20, 5};
  for (const auto strategy : {PlacementStrategy::pack, PlacementStrategy::spread}) {
    PlacementRequest request = cores({1}, strategy);
    request.local_bytes = bytes;
    const auto placed = place(nodes, request);
    REQUIRE(placed);
    CHECK(**placed == Placement{1});
  }
}

TEST_CASE("data does not hold a request back from a node that has room now") {
  const std::vector<PlacementNode> nodes = {node("a", 4, 0), node("b", 4, 4)};
  const std::vector<std::uint64_t> bytes = {1'000, 0};
  PlacementRequest request = cores({1}, PlacementStrategy::pack);
  request.local_bytes = bytes;
  const auto placed = place(nodes, request);
  REQUIRE(placed);
  CHECK(**placed == Placement{1});
}

TEST_CASE("what fits only when leases have ended has to wait") {
  const std::vector<PlacementNode> nodes = {node("a", 4, 1), node("b", 4, 2)};
  const auto placed = place(nodes, cores({3}, PlacementStrategy::pack));
  REQUIRE(placed);
  CHECK_FALSE(placed->has_value());
}

TEST_CASE("what can never fit is refused with what it needs and what there is") {
  using enum PlacementStrategy;
  const std::vector<PlacementNode> nodes = {node("a", 4, 1), node("b", 2, 2, 8)};
  const std::pair<PlacementRequest, const char*> cases[] = {
      {cores({8}, pack),
       "cannot be placed: it needs 8 cores and 0 bytes on one node; there are a with 4 cores and 16.0 GiB, b with 2 "
       "cores and 8.0 GiB"},
      {cores({3, 3}, strict_pack),
       "cannot be placed: it needs 2 times 3 cores and 0 bytes, all on one node (6 cores and 0 bytes); there are a "
       "with 4 cores and 16.0 GiB, b with 2 cores and 8.0 GiB"},
      {cores({1, 1, 1}, strict_spread),
       "cannot be placed: it needs 3 times 1 core and 0 bytes, each on a node of its own; there are a with 4 cores and "
       "16.0 GiB, b with 2 cores and 8.0 GiB"},
      {cores({4, 3}, spread),
       "cannot be placed: it needs 2 bundles of up to 4 cores and 0 bytes, together 7 cores and 0 bytes; there are a "
       "with 4 cores and 16.0 GiB, b with 2 cores and 8.0 GiB"},
  };
  for (const auto& [request, message] : cases) {
    const auto placed = place(nodes, request);
    REQUIRE_FALSE(placed);
    CHECK(placed.error().code() == ErrorCode::infeasible);
    CHECK(placed.error().message() == message);
  }
}

TEST_CASE("memory is asked for as cores are") {
  const std::vector<PlacementNode> nodes = {node("a", 4, 4, 2), node("b", 1, 1, 32)};
  PlacementRequest request;
  request.bundles = {{1, 8 * kGiB}};
  const auto placed = place(nodes, request);
  REQUIRE(placed);
  CHECK(**placed == Placement{1});
}

TEST_CASE("a request that makes no sense is refused as such") {
  const std::vector<PlacementNode> nodes = {node("a", 4, 4)};
  PlacementRequest negative = cores({-1}, PlacementStrategy::pack);
  PlacementRequest huge = cores({limits::kNodeCores + 1}, PlacementStrategy::pack);
  PlacementRequest many = cores(std::vector<std::int64_t>(limits::kPlacementBundles + 1, 0), PlacementStrategy::pack);
  for (const auto& request : {PlacementRequest{}, negative, huge, many}) {
    const auto placed = place(nodes, request);
    REQUIRE_FALSE(placed);
    CHECK(placed.error().code() == ErrorCode::invalid_argument);
  }
}

TEST_CASE("a placement is found exactly when there is one, now and at all") {
  CHECK(rc::check([] {
    const auto nodes = random_nodes();
    const auto request = random_request();
    const auto placed = place(nodes, request);
    const bool now = possible(nodes, request, &PlacementNode::free);
    const bool ever = now || possible(nodes, request, &PlacementNode::total);
    RC_ASSERT(placed.has_value() == ever);
    if (!ever) return;
    RC_ASSERT(placed->has_value() == now);
    if (!now) return;
    RC_ASSERT(suits(request.strategy, **placed));
    RC_ASSERT(holds(nodes, request, **placed, &PlacementNode::free));
  }));
}

TEST_CASE("pack uses one node, spread as many as bundles, whenever that can be") {
  CHECK(rc::check([] {
    const auto nodes = random_nodes();
    auto request = random_request();
    const auto strict = *rc::gen::element(PlacementStrategy::strict_pack, PlacementStrategy::strict_spread);
    request.strategy = strict;
    RC_PRE(possible(nodes, request, &PlacementNode::free));
    request.strategy = strict == PlacementStrategy::strict_pack ? PlacementStrategy::pack : PlacementStrategy::spread;
    const auto placed = place(nodes, request);
    RC_ASSERT(placed.has_value());
    RC_ASSERT(placed->has_value());
    RC_ASSERT(suits(strict, **placed));
  }));
}

TEST_CASE("a hopeless packing of many bundles ends within its bound") {
  std::vector<PlacementNode> nodes;
  for (int i = 0; i < 30; ++i) nodes.push_back(node("n", 5, 5));
  const auto placed = place(nodes, cores(std::vector<std::int64_t>(60, 3), PlacementStrategy::pack));
  REQUIRE_FALSE(placed);
  CHECK(placed.error().code() == ErrorCode::infeasible);
}

TEST_CASE("strategies are written as they are read") {
  for (const auto strategy : {PlacementStrategy::pack, PlacementStrategy::spread, PlacementStrategy::strict_pack,
                              PlacementStrategy::strict_spread}) {
    const auto parsed = parse_placement_strategy(to_string(strategy));
    REQUIRE(parsed);
    CHECK(*parsed == strategy);
  }
  CHECK_FALSE(parse_placement_strategy("tight"));
}

}  // namespace tandem::runtime
