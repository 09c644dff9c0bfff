#include "tuner/search/random.hpp"

#include "tuner/limits.hpp"
#include "tuner/search/seen_points.hpp"

namespace tandem::tuner {

namespace {

class RandomSearch final : public SearchAlgorithm {
 public:
  explicit RandomSearch(SearchSetup setup) : setup_(std::move(setup)), seen_(setup_.space) {}

  std::optional<Parameters> suggest(TrialId trial) override {
    if (exhausted()) return std::nullopt;
    Random random(mix_seed(mix_seed(setup_.seed, "random search"), static_cast<std::uint64_t>(trial)));
    Parameters point = setup_.space.sample(random);
    for (int i = 0; i < limits::kMaxRandomRejections && seen_.contains(point); ++i) {
      point = setup_.space.sample(random);
    }
    if (!seen_.contains(point)) return point;
    // Nearly all is taken: the next free point after the one drawn.
    const GridPosition drawn = setup_.space.position_of(point);
    GridPosition position = drawn;
    do {
      setup_.space.advance(position);
      point = setup_.space.at(position);
      if (!seen_.contains(point)) return point;
    } while (position != drawn);
    return std::nullopt;
  }

  void added(TrialId, const Parameters& point) override { seen_.insert(point); }
  bool exhausted() const override { return seen_.all(); }

 private:
  SearchSetup setup_;
  SeenPoints seen_;
};

}  // namespace

Result<std::unique_ptr<SearchAlgorithm>> make_random_search(SearchSetup setup) {
  return std::make_unique<RandomSearch>(std::move(setup));
}

}  // namespace tandem::tuner
