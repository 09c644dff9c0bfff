#include "runtime/cluster/placement.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "runtime/base/byte_size.hpp"
#include "runtime/base/limits.hpp"

namespace tandem::runtime {
namespace {

constexpr std::array<std::pair<PlacementStrategy, std::string_view>, 4> kStrategies = {{
    {PlacementStrategy::pack, "pack"},
    {PlacementStrategy::spread, "spread"},
    {PlacementStrategy::strict_pack, "strict_pack"},
    {PlacementStrategy::strict_spread, "strict_spread"},
}};

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

Resources sum(const std::vector<Resources>& bundles) {
  return std::accumulate(bundles.begin(), bundles.end(), Resources{},
                         [](Resources total, const Resources& bundle) { return total += bundle; });
}

/// One attempt to find room, in what is free or in what there is at all.
class Search {
 public:
  Search(std::vector<Resources> room, const PlacementRequest& request)
      : room_(std::move(room)), request_(request), bundles_on_(room_.size(), 0) {
    for (const Resources& each : room_) {
      largest_.cores = std::max(largest_.cores, each.cores);
      largest_.memory_bytes = std::max(largest_.memory_bytes, each.memory_bytes);
    }
    order_.resize(request.bundles.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    // What is hard to place goes first.
    std::stable_sort(order_.begin(), order_.end(), [this](std::size_t a, std::size_t b) {
      return difficulty(request_.bundles[a]) > difficulty(request_.bundles[b]);
    });
  }

  std::optional<Placement> run() {
    switch (request_.strategy) {
      case PlacementStrategy::strict_pack:
        return on_one();
      case PlacementStrategy::strict_spread:
        return apart();
      case PlacementStrategy::pack:
        if (auto one = on_one()) return one;
        return anyhow();
      case PlacementStrategy::spread:
        if (request_.bundles.size() > 1) {
          if (auto each_its_own = apart()) return each_its_own;
        }
        return anyhow();
    }
    return std::nullopt;
  }

 private:
  /// Cores and memory as parts of the largest node's.
  [[nodiscard]] std::pair<double, double> parts(const Resources& resources) const {
    const auto part = [](std::int64_t of, std::int64_t most) {
      return static_cast<double>(of) / static_cast<double>(std::max<std::int64_t>(1, most));
    };
    return {part(resources.cores, largest_.cores), part(resources.memory_bytes, largest_.memory_bytes)};
  }
  /// How hard a bundle is to place: by what it needs most of.
  [[nodiscard]] double difficulty(const Resources& needs) const {
    const auto [cores, memory] = parts(needs);
    return std::max(cores, memory);
  }
  [[nodiscard]] double size(const Resources& room) const {
    const auto [cores, memory] = parts(room);
    return cores + memory;
  }

  [[nodiscard]] std::uint64_t local_bytes(std::size_t node) const {
    return node < request_.local_bytes.size() ? request_.local_bytes[node] : 0;
  }

  /// Whether node `a` suits the strategy better than `b`, with what is placed already. All else equal, `fill` takes the
  /// node that has least room to spare, so that large rooms stay whole; without it the node with most room is taken.
  [[nodiscard]] bool better(std::size_t a, std::size_t b, bool fill = false) const {
    const bool spread =
        request_.strategy == PlacementStrategy::spread || request_.strategy == PlacementStrategy::strict_spread;
    if (spread && bundles_on_[a] != bundles_on_[b]) return bundles_on_[a] < bundles_on_[b];
    if (!spread && (bundles_on_[a] > 0) != (bundles_on_[b] > 0)) return bundles_on_[a] > 0;
    if (local_bytes(a) != local_bytes(b)) return local_bytes(a) > local_bytes(b);
    const double room_a = size(room_[a]), room_b = size(room_[b]);
    if (room_a != room_b) return fill ? room_a < room_b : room_a > room_b;
    return a < b;
  }

  std::optional<Placement> on_one() const {
    const Resources needs = sum(request_.bundles);
    std::size_t best = kNowhere;
    for (std::size_t node = 0; node < room_.size(); ++node) {
      if (needs.fits_in(room_[node]) && (best == kNowhere || better(node, best, true))) best = node;
    }
    if (best == kNowhere) return std::nullopt;
    return Placement(request_.bundles.size(), best);
  }

  /// A matching of bundles and nodes by augmenting paths: found whenever there is one.
  std::optional<Placement> apart() const {
    if (request_.bundles.size() > room_.size()) return std::nullopt;
    std::vector<std::size_t> liked(room_.size());
    std::iota(liked.begin(), liked.end(), std::size_t{0});
    std::sort(liked.begin(), liked.end(), [this](std::size_t a, std::size_t b) { return better(a, b); });
    std::vector<std::size_t> holder(room_.size(), kNowhere);  // bundle on each node
    for (const std::size_t bundle : order_) {
      std::vector<bool> tried(room_.size(), false);
      if (!augment(bundle, liked, tried, holder)) return std::nullopt;
    }
    Placement placement(request_.bundles.size());
    for (std::size_t node = 0; node < holder.size(); ++node) {
      if (holder[node] != kNowhere) placement[holder[node]] = node;
    }
    return placement;
  }

  bool augment(std::size_t bundle, const std::vector<std::size_t>& liked, std::vector<bool>& tried,
               std::vector<std::size_t>& holder) const {
    const Resources& needs = request_.bundles[bundle];
    for (const std::size_t node : liked) {
      if (holder[node] != kNowhere || !needs.fits_in(room_[node])) continue;
      holder[node] = bundle;
      return true;
    }
    for (const std::size_t node : liked) {
      if (tried[node] || !needs.fits_in(room_[node])) continue;
      tried[node] = true;
      if (!augment(holder[node], liked, tried, holder)) continue;
      holder[node] = bundle;
      return true;
    }
    return false;
  }

  /// Depth first, best node first, within a bound: packing is NP-hard, and a greedy first try mostly succeeds.
  std::optional<Placement> anyhow() {
    Placement placement(request_.bundles.size(), kNowhere);
    int steps_left = limits::kPlacementSteps;
    if (!place_from(0, placement, steps_left)) return std::nullopt;
    return placement;
  }

  bool place_from(std::size_t depth, Placement& placement, int& steps_left) {
    if (depth == order_.size()) return true;
    const std::size_t bundle = order_[depth];
    const Resources& needs = request_.bundles[bundle];
    std::vector<std::size_t> candidates;
    for (std::size_t node = 0; node < room_.size(); ++node) {
      if (needs.fits_in(room_[node])) candidates.push_back(node);
    }
    std::sort(candidates.begin(), candidates.end(), [this](std::size_t a, std::size_t b) { return better(a, b); });
    for (const std::size_t node : candidates) {
      if (--steps_left < 0) return false;
      placement[bundle] = node;
      room_[node] -= needs;
      ++bundles_on_[node];
      if (place_from(depth + 1, placement, steps_left)) return true;
      room_[node] += needs;
      --bundles_on_[node];
    }
    return false;
  }

  std::vector<Resources> room_;  ///< by node
  const PlacementRequest& request_;
  std::vector<int> bundles_on_;
  Resources largest_;
  std::vector<std::size_t> order_;
};

std::string describe(const PlacementRequest& request) {
  const auto count = request.bundles.size();
  const bool equal = std::all_of(request.bundles.begin(), request.bundles.end(),
                                 [&](const Resources& bundle) { return bundle == request.bundles.front(); });
  if (count == 1) return fmt::format("{} on one node", to_string(request.bundles.front()));
  const std::string each =
      equal ? fmt::format("{} times {}", count, to_string(request.bundles.front()))
            : fmt::format("{} bundles of up to {}, together {}", count,
                          to_string(*std::max_element(request.bundles.begin(), request.bundles.end())),
                          to_string(sum(request.bundles)));
  switch (request.strategy) {
    case PlacementStrategy::strict_pack:
      return fmt::format("{}, all on one node ({})", each, to_string(sum(request.bundles)));
    case PlacementStrategy::strict_spread:
      return fmt::format("{}, each on a node of its own", each);
    default:
      return each;
  }
}

std::string describe(std::span<const PlacementNode> nodes) {
  constexpr std::size_t kNamed = 8;
  if (nodes.empty()) return "there is no node";
  std::string text = fmt::format("there {} ", nodes.size() == 1 ? "is" : "are");
  for (std::size_t i = 0; i < std::min(nodes.size(), kNamed); ++i) {
    text += fmt::format("{}{} with {}", i > 0 ? ", " : "", nodes[i].name, to_string(nodes[i].total));
  }
  if (nodes.size() > kNamed) text += fmt::format(" and {} more", nodes.size() - kNamed);
  return text;
}

std::vector<Resources> column(std::span<const PlacementNode> nodes, Resources PlacementNode::*which) {
  std::vector<Resources> room;
  room.reserve(nodes.size());
  for (const PlacementNode& node : nodes) room.push_back(node.*which);
  return room;
}

Result<> check(const PlacementRequest& request) {
  if (request.bundles.empty() || request.bundles.size() > limits::kPlacementBundles) {
    return fail(ErrorCode::invalid_argument, "a request has 1 to {} bundles, not {}", limits::kPlacementBundles,
                request.bundles.size());
  }
  for (const Resources& bundle : request.bundles) {
    const bool sensible = bundle.cores >= 0 && bundle.cores <= limits::kNodeCores && bundle.memory_bytes >= 0 &&
                          bundle.memory_bytes <= limits::kNodeMemoryBytes;
    if (!sensible) {
      return fail(ErrorCode::invalid_argument, "a bundle takes 0 to {} cores and 0 to {} bytes, not {} and {}",
                  limits::kNodeCores, limits::kNodeMemoryBytes, bundle.cores, bundle.memory_bytes);
    }
  }
  return {};
}

}  // namespace

Resources& Resources::operator+=(const Resources& other) noexcept {
  cores += other.cores;
  memory_bytes += other.memory_bytes;
  return *this;
}

Resources& Resources::operator-=(const Resources& other) noexcept {
  cores -= other.cores;
  memory_bytes -= other.memory_bytes;
  return *this;
}

std::string to_string(const Resources& resources) {
  return fmt::format("{} core{} and {}", resources.cores, resources.cores == 1 ? "" : "s",
                     format_byte_size(resources.memory_bytes));
}

std::string_view to_string(PlacementStrategy strategy) noexcept {
  for (const auto& [each, name] : kStrategies) {
    if (each == strategy) return name;
  }
  return "unknown";
}

Result<PlacementStrategy> parse_placement_strategy(std::string_view text) {
  for (const auto& [strategy, name] : kStrategies) {
    if (name == text) return strategy;
  }
  return fail(ErrorCode::invalid_argument,
              "no placement strategy '{}'; there are pack, spread, strict_pack and "
              "strict_spread",
              text);
}

Result<std::optional<Placement>> place(std::span<const PlacementNode> nodes, const PlacementRequest& request) {
  if (auto checked = check(request); !checked) return forward_error(checked);
  if (auto found = Search(column(nodes, &PlacementNode::free), request).run()) return found;
  // The same search among empty nodes: what it does not find there it would never find.
  if (Search(column(nodes, &PlacementNode::total), request).run()) return std::optional<Placement>{};
  return fail(ErrorCode::infeasible, "cannot be placed: it needs {}; {}", describe(request), describe(nodes));
}

}  // namespace tandem::runtime
