#include "tuner/pipetune/k_means.hpp"

#include <doctest/doctest.h>

#include "runtime/base/random.hpp"

using namespace tandem;
using namespace tandem::tuner;

namespace {

std::vector<Point> blobs(std::size_t count, std::size_t each, double gap, Random& random) {
  std::vector<Point> points;
  for (std::size_t blob = 0; blob < count; ++blob) {
    for (std::size_t i = 0; i < each; ++i) {
      points.push_back(
          {gap * static_cast<double>(blob) + random.normal(), gap * static_cast<double>(blob % 2) + random.normal()});
    }
  }
  return points;
}

}  // namespace

TEST_CASE("as many clusters as there are groups, each whole") {
  for (const std::size_t count : {2, 3, 5, 7}) {
    CAPTURE(count);
    Random random(count);
    const auto points = blobs(count, 12, 30, random);
    const Clustering found = cluster(points, 16, 0.5);
    CHECK(found.centroids.size() == count);
    for (std::size_t i = 0; i < points.size(); ++i) CHECK(found.assignment[i] == found.assignment[i / 12 * 12]);
  }
}

TEST_CASE("points close together stay one cluster, and equal points are no trouble") {
  CHECK(cluster({{1, 1}, {1.1, 1}, {1, 1.1}}, 16, 0.5).centroids.size() == 1);
  CHECK(cluster(std::vector<Point>(9, {2, 3}), 16, 0).centroids.size() == 1);
  CHECK(k_means(std::vector<Point>(9, {2, 3}), 4).centroids.size() == 1);
  CHECK(cluster({{0, 0}, {9, 9}}, 16, 0.5).centroids.size() == 2);
}

TEST_CASE("the same points give the same clusters") {
  Random random(5);
  const auto points = blobs(4, 20, 8, random);
  CHECK(cluster(points, 16, 0.5).assignment == cluster(points, 16, 0.5).assignment);
}

TEST_CASE("distance does not grow with the number of features") {
  CHECK(distance({1, 1}, {2, 2}) == doctest::Approx(distance(Point(50, 1), Point(50, 2))));
  CHECK(distance({0, 0}, {3, 4}) == doctest::Approx(3.5355).epsilon(0.001));
}
