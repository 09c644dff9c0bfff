#include "tuner/pipetune/ground_truth.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "tuner/pipetune/k_means.hpp"
#include "tuner/pipetune/limits.hpp"

namespace tandem::tuner {

namespace {

// In units of tolerance, root mean square over the features. A re-run of the same work lies at about 0.5 on a quiet
// machine and below 1 on a busy one; a model of 1.4 times the operations, parameters and activations beyond 2.
constexpr double kHitRadius = 1.5;
constexpr double kMostWidening = 3.0;  // of a feature's scale, learned from repeated entries

constexpr double kExactTolerance = 0.05;  // features that do not waver: what the model is

/// Tolerances, widened where the same work, probed anew because it was not recognised, showed a larger difference.
std::vector<double> learn_scale(const std::vector<GroundTruthEntry>& entries, const std::vector<std::size_t>& members) {
  const auto& names = entries[members.front()].profile.names;
  std::vector<double> scale;
  for (const std::string& name : names) scale.push_back(feature_tolerance(name));
  const std::vector<double> floor(scale);
  std::vector<std::size_t> exact;
  for (std::size_t f = 0; f < floor.size(); ++f) {
    if (floor[f] <= kExactTolerance) exact.push_back(f);
  }
  const auto same_work = [&entries, &exact](const GroundTruthEntry& a, const GroundTruthEntry& b) {
    return a.key == b.key && std::all_of(exact.begin(), exact.end(), [&](std::size_t f) {
             return std::abs(a.profile.values[f] - b.profile.values[f]) <= kExactTolerance;
           });
  };
  // Compared with the latest of its kind only, so that old habits of a host fade.
  std::vector<std::size_t> latest;
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    const auto twin = std::find_if(latest.begin(), latest.end(),
                                   [&](std::size_t other) { return same_work(entries[*member], entries[other]); });
    if (twin == latest.end()) {
      latest.push_back(*member);
      continue;
    }
    for (std::size_t f = 0; f < names.size(); ++f) {
      const double gap = std::abs(entries[*member].profile.values[f] - entries[*twin].profile.values[f]);
      scale[f] = std::clamp(gap, scale[f], kMostWidening * floor[f]);
    }
  }
  return scale;
}

Point scaled(const std::vector<double>& values, const std::vector<double>& center, const std::vector<double>& scale) {
  Point point(values.size());
  for (std::size_t f = 0; f < values.size(); ++f) point[f] = (values[f] - center[f]) / scale[f];
  return point;
}

}  // namespace

GroundTruth::Family GroundTruth::make_family(const std::vector<GroundTruthEntry>& entries,
                                             std::vector<std::size_t> members) {
  Family family;
  const ProfileVector& first = entries[members.front()].profile;
  family.version = first.version;
  family.names = first.names;
  family.scale = learn_scale(entries, members);
  family.center.assign(first.values.size(), 0.0);
  for (const std::size_t member : members) {
    for (std::size_t f = 0; f < family.center.size(); ++f) {
      family.center[f] += entries[member].profile.values[f] / static_cast<double>(members.size());
    }
  }
  std::vector<Point> points;
  for (const std::size_t member : members) {
    points.push_back(scaled(entries[member].profile.values, family.center, family.scale));
  }
  Clustering clustering = cluster(points, limits::kMaxClusters, kHitRadius / 2);
  family.radius.assign(clustering.centroids.size(), kHitRadius);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t home = clustering.assignment[i];
    family.radius[home] = std::max(family.radius[home], distance(points[i], clustering.centroids[home]) + kHitRadius);
  }
  family.centroids = std::move(clustering.centroids);
  family.clusters = std::move(clustering.assignment);
  family.members = std::move(members);
  return family;
}

void GroundTruth::regroup() {
  std::map<std::pair<int, std::vector<std::string>>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    groups[{entries_[i].profile.version, entries_[i].profile.names}].push_back(i);
  }
  families_.clear();
  for (auto& [features, members] : groups) families_.push_back(make_family(entries_, std::move(members)));
}

std::optional<GroundTruthHit> GroundTruth::match(const ProfileVector& profile, const GroundTruthKey& key,
                                                 const std::vector<Parameters>& allowed) const {
  if (!profile_fault(profile).empty()) return std::nullopt;
  const auto family = std::find_if(families_.begin(), families_.end(), [&profile](const Family& candidate) {
    return candidate.version == profile.version && candidate.names == profile.names;
  });
  if (family == families_.end()) return std::nullopt;

  const Point point = scaled(profile.values, family->center, family->scale);
  const GroundTruthEntry* best = nullptr;
  for (std::size_t i = 0; i < family->members.size(); ++i) {
    const GroundTruthEntry& entry = entries_[family->members[i]];
    const std::size_t home = family->clusters[i];
    if (!(entry.key == key) || entry.contradictions >= limits::kMaxContradictions) continue;
    if (distance(point, family->centroids[home]) > family->radius[home]) continue;
    // A wide cluster holds several workloads: the advice must come from this one.
    if (distance(point, scaled(entry.profile.values, family->center, family->scale)) > kHitRadius) continue;
    if (std::find(allowed.begin(), allowed.end(), entry.best) == allowed.end()) continue;
    if (best == nullptr ||
        std::pair(entry.contradictions, -entry.number) < std::pair(best->contradictions, -best->number)) {
      best = &entry;
    }
  }
  if (best == nullptr) return std::nullopt;
  return GroundTruthHit{best->number, best->best, best->best_step_seconds, best->default_step_seconds};
}

std::int64_t GroundTruth::add(GroundTruthEntry entry) {
  if (!profile_fault(entry.profile).empty()) return -1;
  entry.number = next_number_++;
  entries_.push_back(std::move(entry));
  while (entries_.size() > limits::kMaxGroundTruthEntries) {
    const auto worst = std::max_element(entries_.begin(), entries_.end() - 1, [](const auto& a, const auto& b) {
      return std::pair(a.contradictions, -a.number) < std::pair(b.contradictions, -b.number);
    });
    entries_.erase(worst);
  }
  regroup();
  return next_number_ - 1;
}

void GroundTruth::contradict(std::int64_t entry) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [entry](const GroundTruthEntry& other) { return other.number == entry; });
  if (found != entries_.end()) ++found->contradictions;
}

std::size_t GroundTruth::cluster_count() const noexcept {
  return std::accumulate(families_.begin(), families_.end(), std::size_t{0},
                         [](std::size_t sum, const Family& family) { return sum + family.centroids.size(); });
}

}  // namespace tandem::tuner
