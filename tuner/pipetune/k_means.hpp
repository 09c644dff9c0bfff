/// K-means with k chosen by silhouette. Deterministic: the same points give the same clusters.
#pragma once

#include <cstddef>
#include <vector>

namespace tandem::tuner {

using Point = std::vector<double>;

struct Clustering {
  std::vector<Point> centroids;
  std::vector<std::size_t> assignment;  ///< of each point, a centroid
};

/// Root of the mean squared difference over the dimensions, so that it does not grow with their number.
[[nodiscard]] double distance(const Point& a, const Point& b);

/// k-means++ (Arthur and Vassilvitskii 2007), then Lloyd's iterations. `points` is not empty; 1 ≤ k ≤ points.
[[nodiscard]] Clustering k_means(const std::vector<Point>& points, std::size_t k);

/// The best of k = 1 … most by the simplified silhouette (distances to centroids; Hruschka et al. 2004), which is
/// linear in the points. One cluster stays one while all its points lie within `spread` of their centroid.
[[nodiscard]] Clustering cluster(const std::vector<Point>& points, std::size_t most, double spread);

}  // namespace tandem::tuner
