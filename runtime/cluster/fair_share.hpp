/// fair_shares: how many trials, or other equal pieces of work, each of several claimants may run at a time. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace tandem::runtime {

/// What one node lends, in use or not.
struct NodeCapacity {
  int cores = 0;
  std::int64_t memory_bytes = 0;
};

/// Somebody who wants `slots` pieces of so many cores and so much memory each.
struct Claim {
  int cores = 1;
  std::int64_t memory_bytes = 0;
  int slots = 0;
};

/// Slots for each claim, in their order. Max-min fair in cores (Bertsekas & Gallager, Data Networks, §6.5.2): one slot
/// after the other goes to whoever holds the fewest cores so far, the earlier claim if equal, until nothing fits; what
/// one does not want goes to the others.
[[nodiscard]] std::vector<int> fair_shares(std::vector<NodeCapacity> nodes, const std::vector<Claim>& claims);

}  // namespace tandem::runtime
