/// Placement: which node runs what. Pure functions: the same nodes and the same request give the same answer.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"

namespace tandem::runtime {

/// What a lease takes from a node, and what a node has.
struct Resources {
  std::int64_t cores = 0;
  std::int64_t memory_bytes = 0;

  [[nodiscard]] bool fits_in(const Resources& room) const noexcept {
    return cores <= room.cores && memory_bytes <= room.memory_bytes;
  }
  Resources& operator+=(const Resources& other) noexcept;
  Resources& operator-=(const Resources& other) noexcept;
  auto operator<=>(const Resources&) const = default;
};

/// "4 cores and 2.0 GiB".
[[nodiscard]] std::string to_string(const Resources& resources);

/// A node that takes new leases. One that is being drained is not shown to placement.
struct PlacementNode {
  std::uint64_t node = 0;
  std::string name;
  Resources total;
  Resources free;
};

enum class PlacementStrategy : std::uint8_t {
  pack,           ///< on few nodes: on one if one has room for all
  spread,         ///< on many nodes: each bundle on its own if that can be
  strict_pack,    ///< all on one node, or not at all
  strict_spread,  ///< each on a node of its own, or not at all
};

/// "pack", "spread", "strict_pack", "strict_spread".
[[nodiscard]] std::string_view to_string(PlacementStrategy strategy) noexcept;
[[nodiscard]] Result<PlacementStrategy> parse_placement_strategy(std::string_view text);

struct PlacementRequest {
  std::vector<Resources> bundles;  ///< each lies on one node
  PlacementStrategy strategy = PlacementStrategy::pack;
  /// Bytes of the request's data that each node holds, by its index; empty: nowhere. Of several nodes that the strategy
  /// likes equally well, the one with most data is taken.
  std::span<const std::uint64_t> local_bytes;
};

/// The index of a node for each bundle.
using Placement = std::vector<std::size_t>;

/// Nothing when the request has to wait until leases end. Errors: invalid_argument; infeasible, no node or set of nodes
/// has room even when nothing runs there, with what is needed and what there is.
[[nodiscard]] Result<std::optional<Placement>> place(std::span<const PlacementNode> nodes,
                                                     const PlacementRequest& request);

}  // namespace tandem::runtime
