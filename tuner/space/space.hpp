/// Space: the parameters a study searches, their domains, and the conditions under which each exists.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/space/domain.hpp"

namespace tandem::tuner {

/// Holds while `parameter` exists and has one of `values`.
struct Condition {
  std::string parameter;
  std::vector<Value> values;
};

/// One parameter; it exists where all its conditions hold.
struct ParameterSpec {
  std::string name;
  Domain domain;
  std::vector<Condition> when;
};

/// A place on the grid: for each parameter, in the space's order, the index of its value; nullopt: it does not exist.
using GridPosition = std::vector<std::optional<std::uint64_t>>;

/// Immutable once made; cheap to copy for what a study file may hold.
class Space {
 public:
  /// Without parameters; its one point is empty.
  Space() = default;
  /// Errors name the parameter and what is wrong: a domain, a duplicate, a condition on a parameter that does not
  /// exist, is continuous or never has that value, a cycle.
  static Result<Space> create(std::vector<ParameterSpec> parameters);
  /// This space and further parameters.
  [[nodiscard]] Result<Space> with(std::vector<ParameterSpec> more) const;

  /// By name, except that a parameter comes after those its conditions name.
  [[nodiscard]] const std::vector<ParameterSpec>& parameters() const noexcept { return parameters_; }
  [[nodiscard]] const ParameterSpec* find(std::string_view name) const noexcept;
  [[nodiscard]] bool empty() const noexcept { return parameters_.empty(); }

  /// How many distinct points; nullopt: infinitely many. Stops counting at the largest number.
  [[nodiscard]] std::optional<std::uint64_t> cardinality() const;
  /// Name of a parameter without a finite number of values; nullptr: every one has.
  [[nodiscard]] const ParameterSpec* continuous_parameter() const noexcept;

  [[nodiscard]] Parameters sample(Random& random) const;
  /// `params` with each value in its domain's own type and exactly on its grid.
  /// Errors: an unknown, missing or inactive parameter, a value outside its domain; each names what is allowed.
  [[nodiscard]] Result<Parameters> normalized(const Parameters& params) const;
  [[nodiscard]] Result<> contains(const Parameters& params) const;

  /// The grid, in order: the last parameter varies fastest, values ascend (choices as written).
  /// None of these may be called on a space with a continuous parameter.
  [[nodiscard]] GridPosition first_position() const;
  /// False at the end; `position` is then the first one again.
  bool advance(GridPosition& position) const;
  [[nodiscard]] Parameters at(const GridPosition& position) const;
  [[nodiscard]] GridPosition position_of(const Parameters& normalized_params) const;
  /// All points of the grid. Errors: a continuous parameter, by name; more than `limit` points.
  [[nodiscard]] Result<std::vector<Parameters>> grid(std::size_t limit) const;

 private:
  /// A condition with its parameter looked up.
  struct Link {
    std::size_t parent;
    std::vector<Value> values;
  };
  using Point = std::vector<std::optional<Value>>;

  [[nodiscard]] bool active(std::size_t index, const Point& point) const;
  [[nodiscard]] Parameters to_parameters(const Point& point) const;
  [[nodiscard]] Point to_point(const GridPosition& position) const;
  /// Gives every parameter from `index` on its first value, where it exists.
  void fill(GridPosition& position, Point& point, std::size_t index) const;
  Result<> link();

  std::vector<ParameterSpec> parameters_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::vector<std::vector<Link>> links_;  ///< by parameter

  friend class SpaceCounter;
};

}  // namespace tandem::tuner
