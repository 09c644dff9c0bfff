/// TreeReduction: combines the results of chunks in one fixed tree, in whatever order they arrive, so that a sum of
/// floating-point numbers is bitwise the same for any number of threads. Few partial results live at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace tandem::runtime {

/// `put` may be called from several threads, once for each leaf. The tree pairs neighbours level by level; a last one
/// without a neighbour moves up as it is.
template <class T>
class TreeReduction {
 public:
  /// `combine(left, right)` where `left` has the lower chunks. Must not throw.
  using Combine = std::function<T(T left, T right)>;

  TreeReduction(std::size_t leaves, Combine combine) : combine_(std::move(combine)) {
    for (std::size_t width = leaves; width > 1; width = (width + 1) / 2) {
      levels_.emplace_back(width);
    }
  }

  void put(std::size_t leaf, T value) {
    std::size_t index = leaf;
    for (Level& level : levels_) {
      const std::size_t sibling = index ^ 1;
      if (sibling < level.values.size()) {
        level.values[index] = std::move(value);
        // The second of two neighbours to arrive goes on up; acquire and release hand it the first one's value.
        if (!level.arrived[index / 2].exchange(true, std::memory_order_acq_rel)) return;
        value = combine_(std::move(level.values[index & ~std::size_t{1}]), std::move(level.values[index | 1]));
      }
      index /= 2;
    }
    root_ = std::move(value);
  }

  /// After the last `put` has returned.
  [[nodiscard]] T take() { return std::move(root_); }

 private:
  struct Level {
    explicit Level(std::size_t width) : values(width), arrived((width + 1) / 2) {}
    std::vector<T> values;
    std::vector<std::atomic<bool>> arrived;
  };

  Combine combine_;
  std::vector<Level> levels_;
  T root_{};
};

}  // namespace tandem::runtime
