#include "runtime/cluster/fair_share.hpp"

#include <set>
#include <utility>

namespace tandem::runtime {
namespace {

/// Takes one piece from the node that it leaves fullest. False: no node has room.
bool take(std::vector<NodeCapacity>& nodes, const Claim& claim) {
  NodeCapacity* best = nullptr;
  for (NodeCapacity& node : nodes) {
    if (node.cores < claim.cores || node.memory_bytes < claim.memory_bytes) continue;
    if (best == nullptr || node.cores < best->cores) best = &node;
  }
  if (best == nullptr) return false;
  best->cores -= claim.cores;
  best->memory_bytes -= claim.memory_bytes;
  return true;
}

}  // namespace

std::vector<int> fair_shares(std::vector<NodeCapacity> nodes, const std::vector<Claim>& claims) {
  std::vector<int> slots(claims.size(), 0);
  std::set<std::pair<std::int64_t, std::size_t>> by_cores_held;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (claims[i].slots > 0 && claims[i].cores > 0) by_cores_held.insert({0, i});
  }
  while (!by_cores_held.empty()) {
    const auto [held, index] = *by_cores_held.begin();
    by_cores_held.erase(by_cores_held.begin());
    const Claim& claim = claims[index];
    if (!take(nodes, claim)) continue;  // nor will it fit later: room only shrinks
    if (++slots[index] < claim.slots) by_cores_held.insert({held + claim.cores, index});
  }
  return slots;
}

}  // namespace tandem::runtime
