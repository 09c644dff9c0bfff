#include <array>

#include "tuner/search/grid.hpp"
#include "tuner/search/random.hpp"
#include "tuner/search/search_algorithm.hpp"

namespace tandem::tuner {

namespace {

struct Registration {
  std::string_view name;
  Result<std::unique_ptr<SearchAlgorithm>> (*make)(SearchSetup setup);
};

constexpr std::array kRegistry{
    Registration{"random", make_random_search},
    Registration{"grid", make_grid_search},
};

}  // namespace

std::vector<std::string_view> search_algorithm_names() {
  std::vector<std::string_view> names;
  for (const auto& entry : kRegistry) names.push_back(entry.name);
  return names;
}

Result<std::unique_ptr<SearchAlgorithm>> make_search_algorithm(std::string_view name, SearchSetup setup) {
  for (const auto& entry : kRegistry) {
    if (entry.name == name) return entry.make(std::move(setup));
  }
  return fail(ErrorCode::invalid_argument, "no search algorithm \"{}\"; available: {}", name,
              fmt::join(search_algorithm_names(), ", "));
}

}  // namespace tandem::tuner
