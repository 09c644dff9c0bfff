/// SeenPoints: which points of a finite space became trials. Of an infinite space nothing is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>

#include "tuner/space/space.hpp"
#include "tuner/space/value_text.hpp"

namespace tandem::tuner {

class SeenPoints {
 public:
  explicit SeenPoints(const Space& space) : cardinality_(space.cardinality()) {}

  void insert(const Parameters& point) {
    if (cardinality_) seen_.insert(canonical_text(point));
  }
  [[nodiscard]] bool contains(const Parameters& point) const {
    return cardinality_ && seen_.contains(canonical_text(point));
  }
  [[nodiscard]] bool all() const noexcept { return cardinality_ && seen_.size() >= *cardinality_; }

 private:
  std::optional<std::uint64_t> cardinality_;
  std::unordered_set<std::string> seen_;
};

}  // namespace tandem::tuner
