/// Catalog: the system parameters Tandem knows, their values, and which combinations make sense under a lease.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/result.hpp"
#include "tuner/pipetune/system_parameter.hpp"
#include "tuner/space/value.hpp"
#include "tuner/study/study_spec.hpp"

namespace tandem::tuner {

/// Immutable. A value a study names alone pins its parameter, even where no sensible combination is left.
class Catalog {
 public:
  /// cores, threads, replicas, micro_batch, allocator.
  static const Catalog& builtin();

  [[nodiscard]] const SystemParameter* find(std::string_view name) const noexcept;
  [[nodiscard]] std::vector<const SystemParameter*> all() const;

  /// Refuses unknown parameters, values of a wrong type or range, duplicates, a budget outside 0 to 1, and values
  /// that cannot be combined; errors name what is allowed.
  [[nodiscard]] Result<> check(const SystemSpec& spec) const;

  /// How many cores a trial of this study leases: the largest value of `cores` (at most `worker_cores`).
  [[nodiscard]] int lease_cores(const SystemSpec& spec, int worker_cores) const;
  /// Threads = the lease's cores, one replica, whole batches, the default allocator; single-valued keys of `spec` win,
  /// and where a list leaves a default out, its first value does. Of framework defaults only single-valued keys are
  /// named: the rest is left as the framework has it.
  [[nodiscard]] Parameters defaults(const SystemSpec& spec, const LeaseSize& lease) const;
  /// The joint grid under the lease, defaults first, the rest in the order of their promise. Sensible combinations
  /// only: threads × replicas = cores (a smaller `cores` leaves cores idle), replicas × micro_batch ≤ batch, and no
  /// two that do the same.
  [[nodiscard]] std::vector<Parameters> candidates(const SystemSpec& spec, const LeaseSize& lease,
                                                   std::int64_t batch_size) const;
  /// The candidate every profile is taken under: cheap everywhere (memory retained, one replica, small chunks), so
  /// that profiling costs little.
  [[nodiscard]] Parameters reference(const SystemSpec& spec, const LeaseSize& lease, std::int64_t batch_size) const;
  /// A chunk larger than a replica's share of the batch is that share, written as 0: so replicas × micro_batch ≤ batch.
  static void fit_to_batch(Parameters& system, std::int64_t batch_size);

 private:
  explicit Catalog(std::vector<const SystemParameter*> parameters) : parameters_(std::move(parameters)) {}
  [[nodiscard]] Parameters lease_defaults(const SystemSpec& spec, const LeaseSize& lease) const;
  void fit_to_lease(const SystemSpec& spec, const LeaseSize& lease, Parameters& system) const;

  std::vector<const SystemParameter*> parameters_;
};

/// `[system]` of a study file against the built-in catalog.
[[nodiscard]] Result<> check_system_spec(const SystemSpec& spec);

}  // namespace tandem::tuner
