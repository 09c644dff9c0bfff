/// SpaceCounter: the number of points of a finite space with conditions, without listing them.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/space/space.hpp"

namespace tandem::tuner {

/// Parameters joined by conditions are counted together, the groups multiplied. Within a group only the values that
/// conditions name are told apart.
class SpaceCounter {
 public:
  explicit SpaceCounter(const Space& space);
  /// Stays at the largest number when there are more points, or too many combinations of conditions.
  [[nodiscard]] std::uint64_t count();

 private:
  using Group = std::vector<std::size_t>;  ///< parameters, parents first

  [[nodiscard]] std::vector<Group> groups() const;
  /// Points of `group` from its member `next` on, under the values of `point` before it.
  std::uint64_t count_from(const Group& group, std::size_t next, Space::Point& point);
  /// Values of `parameter` that some condition names.
  [[nodiscard]] std::vector<Value> named_values(std::size_t parameter) const;

  const Space& space_;
  std::vector<std::vector<Value>> named_;
  std::size_t combinations_ = 0;
};

}  // namespace tandem::tuner
