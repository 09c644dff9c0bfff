/// SearchAlgorithm: what to try next. It knows the study only by what it is told, so that telling it the same history
/// again, in the same order, brings it back to the same state.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "tuner/space/space.hpp"

namespace tandem::tuner {

/// Values a trial reported.
struct Observation {
  TrialId trial = 0;
  int step = 0;
  std::vector<double> costs;  ///< one per objective; less is better, whatever the objective's direction
};

class SearchAlgorithm {
 public:
  virtual ~SearchAlgorithm() = default;
  /// A point for the new trial `trial`; nullopt: the space is used up. A function of the setup, the trial's number and
  /// what was told; it changes nothing that a later suggestion depends on, since the point is told by `added`.
  [[nodiscard]] virtual std::optional<Parameters> suggest(TrialId trial) = 0;
  /// `point` became a trial: suggested here, enqueued by the user, or read back from the store.
  virtual void added(TrialId trial, const Parameters& point) = 0;
  virtual void observed(const Observation& observation) { static_cast<void>(observation); }
  /// `suggest` would answer nullopt.
  [[nodiscard]] virtual bool exhausted() const = 0;
};

struct SearchSetup {
  Space space;
  std::uint64_t seed = 0;
};

/// The registered algorithms, for errors and help.
[[nodiscard]] std::vector<std::string_view> search_algorithm_names();
/// Errors: no such algorithm; a space it cannot search.
[[nodiscard]] Result<std::unique_ptr<SearchAlgorithm>> make_search_algorithm(std::string_view name, SearchSetup setup);

}  // namespace tandem::tuner
