#include "tuner/search/grid.hpp"

#include "tuner/search/seen_points.hpp"

namespace tandem::tuner {

namespace {

class GridSearch final : public SearchAlgorithm {
 public:
  explicit GridSearch(SearchSetup setup)
      : setup_(std::move(setup)), seen_(setup_.space), position_(setup_.space.first_position()) {}

  std::optional<Parameters> suggest(TrialId) override {
    if (exhausted()) return std::nullopt;
    // Points behind the position were all seen, so that where it stands depends on the set of seen points alone.
    while (true) {
      Parameters point = setup_.space.at(position_);
      if (!seen_.contains(point)) return point;
      if (!setup_.space.advance(position_)) return std::nullopt;
    }
  }

  void added(TrialId, const Parameters& point) override { seen_.insert(point); }
  bool exhausted() const override { return seen_.all(); }

 private:
  SearchSetup setup_;
  SeenPoints seen_;
  GridPosition position_;
};

}  // namespace

Result<std::unique_ptr<SearchAlgorithm>> make_grid_search(SearchSetup setup) {
  if (const auto* parameter = setup.space.continuous_parameter()) {
    return fail(ErrorCode::invalid_argument,
                "grid search needs a finite space, but {} is {} without a step; give it a step or a choice",
                parameter->name, describe_domain(parameter->domain));
  }
  return std::make_unique<GridSearch>(std::move(setup));
}

}  // namespace tandem::tuner
