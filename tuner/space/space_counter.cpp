#include "tuner/space/space_counter.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tuner/limits.hpp"

namespace tandem::tuner {

namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::uint64_t times(std::uint64_t a, std::uint64_t b) { return a != 0 && b > kMost / a ? kMost : a * b; }
std::uint64_t plus(std::uint64_t a, std::uint64_t b) { return b > kMost - a ? kMost : a + b; }

}  // namespace

SpaceCounter::SpaceCounter(const Space& space) : space_(space) {
  for (std::size_t i = 0; i < space_.parameters_.size(); ++i) named_.push_back(named_values(i));
}

std::uint64_t SpaceCounter::count() {
  std::uint64_t points = 1;
  for (const auto& group : groups()) {
    Space::Point point(space_.parameters_.size());
    combinations_ = 0;
    const std::uint64_t group_points = count_from(group, 0, point);
    if (combinations_ > limits::kMaxCountedCombinations) return kMost;
    points = times(points, group_points);
  }
  return points;
}

std::vector<SpaceCounter::Group> SpaceCounter::groups() const {
  std::vector<std::size_t> root(space_.parameters_.size());
  std::iota(root.begin(), root.end(), std::size_t{0});
  const auto find_root = [&](std::size_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  for (std::size_t i = 0; i < root.size(); ++i) {
    for (const auto& link : space_.links_[i]) root[find_root(i)] = find_root(link.parent);
  }
  std::map<std::size_t, Group> by_root;
  for (std::size_t i = 0; i < root.size(); ++i) by_root[find_root(i)].push_back(i);
  std::vector<Group> groups;
  for (auto& [first, group] : by_root) groups.push_back(std::move(group));
  return groups;
}

std::uint64_t SpaceCounter::count_from(const Group& group, std::size_t next, Space::Point& point) {
  if (combinations_ > limits::kMaxCountedCombinations) return kMost;
  if (next == group.size()) {
    ++combinations_;
    return 1;
  }
  const std::size_t parameter = group[next];
  const std::uint64_t size = *domain_size(space_.parameters_[parameter].domain);
  if (!space_.active(parameter, point)) return count_from(group, next + 1, point);
  if (named_[parameter].empty()) return times(size, count_from(group, next + 1, point));

  std::uint64_t points = 0;
  for (const auto& value : named_[parameter]) {
    point[parameter] = value;
    points = plus(points, count_from(group, next + 1, point));
  }
  point[parameter].reset();  // stands for all other values: no condition holds for them
  if (const std::uint64_t others = size - named_[parameter].size(); others > 0) {
    points = plus(points, times(others, count_from(group, next + 1, point)));
  }
  return points;
}

std::vector<Value> SpaceCounter::named_values(std::size_t parameter) const {
  std::vector<Value> values;
  for (const auto& links : space_.links_) {
    for (const auto& link : links) {
      if (link.parent == parameter) values.insert(values.end(), link.values.begin(), link.values.end());
    }
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

}  // namespace tandem::tuner
