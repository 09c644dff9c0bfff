#include "tuner/space/space.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "tuner/limits.hpp"
#include "tuner/space/space_counter.hpp"
#include "tuner/space/value_text.hpp"

namespace tandem::tuner {

namespace {

constexpr auto kWrong = ErrorCode::invalid_argument;

std::string list_names(const std::vector<ParameterSpec>& parameters) {
  std::string names;
  for (const auto& parameter : parameters) names += (names.empty() ? "" : ", ") + parameter.name;
  return names;
}

/// Orders by name, parents first. Errors: a duplicate, an unknown parent, a cycle.
Result<std::vector<ParameterSpec>> parents_first(std::vector<ParameterSpec> parameters) {
  std::map<std::string, ParameterSpec, std::less<>> waiting;
  for (auto& parameter : parameters) {
    const std::string name = parameter.name;
    if (!waiting.emplace(name, std::move(parameter)).second) return fail(kWrong, "{} is named twice", name);
  }
  std::map<std::string, std::set<std::string>, std::less<>> children;
  std::map<std::string, std::size_t, std::less<>> missing_parents;
  std::set<std::string> ready;
  for (const auto& [name, parameter] : waiting) {
    std::set<std::string> parents;
    for (const auto& condition : parameter.when) {
      if (!waiting.contains(condition.parameter)) {
        return fail(kWrong, "{}: when names {}, which is not in the space", name, condition.parameter);
      }
      parents.insert(condition.parameter);
    }
    for (const auto& parent : parents) children[parent].insert(name);
    missing_parents[name] = parents.size();
    if (parents.empty()) ready.insert(name);
  }
  std::vector<ParameterSpec> ordered;
  while (!ready.empty()) {
    const std::string name = *ready.begin();
    ready.erase(ready.begin());
    ordered.push_back(std::move(waiting.extract(name).mapped()));
    for (const auto& child : children[name]) {
      if (--missing_parents[child] == 0) ready.insert(child);
    }
  }
  if (!waiting.empty()) return fail(kWrong, "{}: when leads in a circle", waiting.begin()->first);
  return ordered;
}

}  // namespace

Result<Space> Space::create(std::vector<ParameterSpec> parameters) {
  if (parameters.size() > limits::kMaxParameters) {
    return fail(kWrong, "{} parameters; at most {} are allowed", parameters.size(), limits::kMaxParameters);
  }
  for (const auto& parameter : parameters) {
    if (parameter.name.empty()) return fail(kWrong, "a parameter needs a name");
    if (const auto checked = check_domain(parameter.domain); !checked) return forward_error(checked, parameter.name);
  }
  auto ordered = parents_first(std::move(parameters));
  if (!ordered) return forward_error(ordered);
  Space space;
  space.parameters_ = std::move(*ordered);
  for (std::size_t i = 0; i < space.parameters_.size(); ++i) space.index_[space.parameters_[i].name] = i;
  if (const auto linked = space.link(); !linked) return forward_error(linked);
  return space;
}

Result<Space> Space::with(std::vector<ParameterSpec> more) const {
  std::vector<ParameterSpec> all = parameters_;
  std::move(more.begin(), more.end(), std::back_inserter(all));
  return create(std::move(all));
}

Result<> Space::link() {
  links_.assign(parameters_.size(), {});
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    for (auto& condition : parameters_[i].when) {
      const std::size_t parent = index_.at(condition.parameter);
      const Domain& domain = parameters_[parent].domain;
      const std::string where = fmt::format("{}: when {}", parameters_[i].name, condition.parameter);
      if (!domain_size(domain)) return fail(kWrong, "{}: it has no step, so it never has exactly one value", where);
      if (condition.values.empty()) return fail(kWrong, "{}: it needs at least one value", where);
      for (auto& value : condition.values) {
        auto normal = normalize_value(domain, value);
        if (!normal) return forward_error(normal, where);
        value = std::move(*normal);
      }
      links_[i].push_back({parent, condition.values});
    }
  }
  return {};
}

const ParameterSpec* Space::find(std::string_view name) const noexcept {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &parameters_[found->second];
}

std::optional<std::uint64_t> Space::cardinality() const {
  if (continuous_parameter() != nullptr) return std::nullopt;
  return SpaceCounter(*this).count();
}

const ParameterSpec* Space::continuous_parameter() const noexcept {
  const auto found = std::find_if(parameters_.begin(), parameters_.end(),
                                  [](const ParameterSpec& parameter) { return !domain_size(parameter.domain); });
  return found == parameters_.end() ? nullptr : &*found;
}

bool Space::active(std::size_t index, const Point& point) const {
  return std::all_of(links_[index].begin(), links_[index].end(), [&](const Link& link) {
    const auto& value = point[link.parent];
    return value && std::find(link.values.begin(), link.values.end(), *value) != link.values.end();
  });
}

Parameters Space::to_parameters(const Point& point) const {
  Parameters params;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (point[i]) params.emplace(parameters_[i].name, *point[i]);
  }
  return params;
}

Parameters Space::sample(Random& random) const {
  Point point(parameters_.size());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (active(i, point)) point[i] = sample_domain(parameters_[i].domain, random);
  }
  return to_parameters(point);
}

Result<Parameters> Space::normalized(const Parameters& params) const {
  for (const auto& [name, value] : params) {
    if (!index_.contains(name)) {
      return fail(kWrong, "{} is not in the space; allowed: {}", name, list_names(parameters_));
    }
  }
  Point point(parameters_.size());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto& parameter = parameters_[i];
    const auto given = params.find(parameter.name);
    const bool exists = active(i, point);
    if (exists && given == params.end()) {
      return fail(kWrong, "{} is missing; allowed: {}", parameter.name, describe_domain(parameter.domain));
    }
    if (!exists && given != params.end()) {
      return fail(kWrong, "{} does not exist here; it does when {} is one of {}", parameter.name,
                  parameter.when.front().parameter, to_text(parameter.when.front().values));
    }
    if (!exists) continue;
    auto value = normalize_value(parameter.domain, given->second);
    if (!value) return forward_error(value, parameter.name);
    point[i] = std::move(*value);
  }
  return to_parameters(point);
}

Result<> Space::contains(const Parameters& params) const {
  const auto normal = normalized(params);
  if (!normal) return forward_error(normal);
  return {};
}

GridPosition Space::first_position() const {
  GridPosition position(parameters_.size());
  Point point(parameters_.size());
  fill(position, point, 0);
  return position;
}

void Space::fill(GridPosition& position, Point& point, std::size_t index) const {
  for (std::size_t i = index; i < parameters_.size(); ++i) {
    position[i].reset();
    point[i].reset();
    if (!active(i, point)) continue;
    position[i] = 0;
    point[i] = domain_value(parameters_[i].domain, 0);
  }
}

bool Space::advance(GridPosition& position) const {
  Point point = to_point(position);
  for (std::size_t i = parameters_.size(); i-- > 0;) {
    if (!position[i] || *position[i] + 1 >= *domain_size(parameters_[i].domain)) continue;
    ++*position[i];
    point[i] = domain_value(parameters_[i].domain, *position[i]);
    fill(position, point, i + 1);
    return true;
  }
  position = first_position();
  return false;
}

Space::Point Space::to_point(const GridPosition& position) const {
  Point point(parameters_.size());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (position[i]) point[i] = domain_value(parameters_[i].domain, *position[i]);
  }
  return point;
}

Parameters Space::at(const GridPosition& position) const { return to_parameters(to_point(position)); }

GridPosition Space::position_of(const Parameters& normalized_params) const {
  GridPosition position(parameters_.size());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto given = normalized_params.find(parameters_[i].name);
    if (given != normalized_params.end()) position[i] = domain_index(parameters_[i].domain, given->second);
  }
  return position;
}

Result<std::vector<Parameters>> Space::grid(std::size_t limit) const {
  if (const auto* parameter = continuous_parameter()) {
    return fail(kWrong, "{} is continuous; a grid needs a step or a choice", parameter->name);
  }
  std::vector<Parameters> points;
  GridPosition position = first_position();
  do {
    if (points.size() == limit) return fail(ErrorCode::resource_exhausted, "the grid has more than {} points", limit);
    points.push_back(at(position));
  } while (advance(position));
  return points;
}

}  // namespace tandem::tuner
