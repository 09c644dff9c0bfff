/// GroundTruth: past profiles, clustered, with the best configuration seen per (cluster, batch size).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "tuner/pipetune/profile.hpp"
#include "tuner/space/value.hpp"

namespace tandem::tuner {

/// Under what conditions evidence is comparable: how many cores the lease had, the objective, the host's kind.
struct GroundTruthKey {
  std::int64_t batch_size = 0;
  std::int64_t lease_cores = 0;
  std::string objective;   ///< "time" or "energy"
  std::string host_class;  ///< CPU model and core count; evidence does not travel between unlike hosts

  bool operator==(const GroundTruthKey&) const = default;
};

struct GroundTruthEntry {
  ProfileVector profile;
  GroundTruthKey key;
  Parameters best;
  double best_step_seconds = 0;
  double default_step_seconds = 0;  ///< of the default configuration, when it was measured; else 0
  std::int64_t contradictions = 0;  ///< how often its advice turned out wrong
  std::int64_t number = -1;         ///< given by `add`, never used again
};

struct GroundTruthHit {
  std::int64_t entry = 0;
  Parameters best;
  double expected_step_seconds = 0;
  double default_step_seconds = 0;
};

/// Not thread-safe; owned by the ground-truth actor.
class GroundTruth {
 public:
  /// The best known configuration for a profile: the profile lies within a cluster, near an entry of it with exactly
  /// this key, and the entry's configuration is one of `allowed`. Of several, the least contradicted, then the newest.
  [[nodiscard]] std::optional<GroundTruthHit> match(const ProfileVector& profile, const GroundTruthKey& key,
                                                    const std::vector<Parameters>& allowed) const;
  /// Adds a probe's result; returns its entry's number. Beyond the limit the most contradicted, then oldest entry goes.
  std::int64_t add(GroundTruthEntry entry);
  /// The advice of `entry` was wrong (re-probed to another winner): it is demoted, and no longer matched after 2.
  void contradict(std::int64_t entry);

  [[nodiscard]] const std::vector<GroundTruthEntry>& entries() const noexcept { return entries_; }
  [[nodiscard]] std::size_t cluster_count() const noexcept;
  [[nodiscard]] std::string to_json() const;
  /// Errors: data_loss, naming the damaged field.
  static Result<GroundTruth> from_json(std::string_view text);

 private:
  /// Entries whose profiles have the same features: the only ones that can be compared.
  struct Family {
    int version = 1;
    std::vector<std::string> names;
    std::vector<double> center;
    std::vector<double> scale;
    std::vector<std::vector<double>> centroids;
    std::vector<double> radius;         ///< of each cluster
    std::vector<std::size_t> members;   ///< indices of entries
    std::vector<std::size_t> clusters;  ///< of each member
  };
  void regroup();
  static Family make_family(const std::vector<GroundTruthEntry>& entries, std::vector<std::size_t> members);

  std::vector<GroundTruthEntry> entries_;
  std::int64_t next_number_ = 0;
  std::vector<Family> families_;  ///< derived from the entries
};

}  // namespace tandem::tuner
