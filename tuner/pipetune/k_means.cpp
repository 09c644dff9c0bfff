#include "tuner/pipetune/k_means.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "runtime/base/random.hpp"

namespace tandem::tuner {

namespace {

constexpr int kMostIterations = 25;
constexpr std::uint64_t kSeed = 0x7461'6e64'656d;

double squared(const Point& a, const Point& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

std::size_t nearest(const std::vector<Point>& centroids, const Point& point) {
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < centroids.size(); ++i) {
    const double candidate = squared(centroids[i], point);
    if (candidate < least) {
      least = candidate;
      best = i;
    }
  }
  return best;
}

/// The next centroid is a point, drawn in proportion to its squared distance from those chosen.
std::vector<Point> spread_out(const std::vector<Point>& points, std::size_t k, Random& random) {
  std::vector<Point> centroids{
      points[static_cast<std::size_t>(random.uniform_int(0, static_cast<std::int64_t>(points.size()) - 1))]};
  std::vector<double> gaps(points.size(), std::numeric_limits<double>::infinity());
  while (centroids.size() < k) {
    double total = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      gaps[i] = std::min(gaps[i], squared(points[i], centroids.back()));
      total += gaps[i];
    }
    if (!(total > 0)) break;  // fewer distinct points than k
    double mark = random.uniform() * total;
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!(gaps[i] > 0)) continue;
      chosen = i;
      mark -= gaps[i];
      if (mark < 0) break;
    }
    centroids.push_back(points[chosen]);
  }
  return centroids;
}

void recenter(const std::vector<Point>& points, Clustering& clustering) {
  const std::size_t dimensions = points.front().size();
  std::vector<Point> sums(clustering.centroids.size(), Point(dimensions, 0.0));
  std::vector<double> counts(clustering.centroids.size(), 0.0);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t home = clustering.assignment[i];
    for (std::size_t d = 0; d < dimensions; ++d) sums[home][d] += points[i][d];
    counts[home] += 1;
  }
  for (std::size_t c = 0; c < sums.size(); ++c) {
    if (counts[c] == 0) continue;  // an empty cluster keeps its place
    for (double& value : sums[c]) value /= counts[c];
    clustering.centroids[c] = std::move(sums[c]);
  }
}

double silhouette(const std::vector<Point>& points, const Clustering& clustering) {
  std::vector<std::size_t> sizes(clustering.centroids.size(), 0);
  for (const std::size_t home : clustering.assignment) ++sizes[home];
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t home = clustering.assignment[i];
    if (sizes[home] < 2) continue;  // a point alone counts 0, or as many clusters as points would win
    double other = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < clustering.centroids.size(); ++c) {
      if (c != home) other = std::min(other, distance(points[i], clustering.centroids[c]));
    }
    const double own = distance(points[i], clustering.centroids[home]);
    const double larger = std::max(own, other);
    if (larger > 0) sum += (other - own) / larger;
  }
  return sum / static_cast<double>(points.size());
}

}  // namespace

double distance(const Point& a, const Point& b) {
  return a.empty() ? 0 : std::sqrt(squared(a, b) / static_cast<double>(a.size()));
}

Clustering k_means(const std::vector<Point>& points, std::size_t k) {
  Random random(mix_seed(kSeed, k));
  Clustering clustering;
  clustering.centroids = spread_out(points, k, random);
  clustering.assignment.assign(points.size(), 0);
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    bool moved = iteration == 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::size_t home = nearest(clustering.centroids, points[i]);
      moved = moved || home != clustering.assignment[i];
      clustering.assignment[i] = home;
    }
    if (!moved) break;
    recenter(points, clustering);
  }
  return clustering;
}

Clustering cluster(const std::vector<Point>& points, std::size_t most, double spread) {
  Clustering best = k_means(points, 1);
  const bool tight = std::all_of(points.begin(), points.end(),
                                 [&](const Point& point) { return distance(point, best.centroids.front()) <= spread; });
  if (tight) return best;
  double highest = -1;
  if (points.size() == 2) return k_means(points, 2);
  for (std::size_t k = 2; k <= std::min(most, points.size()); ++k) {
    Clustering candidate = k_means(points, k);
    const double quality = silhouette(points, candidate);
    if (quality > highest) {
      highest = quality;
      best = std::move(candidate);
    }
  }
  return best;
}

}  // namespace tandem::tuner
