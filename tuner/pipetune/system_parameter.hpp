/// SystemParameter: one thing about how a trial runs that Tandem may change while it trains.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "tuner/space/value.hpp"

namespace tandem::tuner {

/// What a trial was given.
struct LeaseSize {
  int cores = 1;
  std::int64_t memory_bytes = 0;  ///< 0: unlimited
};

/// One system parameter; each lives in a file of its own and is registered in catalog.cpp.
class SystemParameter {
 public:
  virtual ~SystemParameter() = default;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  [[nodiscard]] virtual std::string_view summary() const noexcept = 0;
  /// Applies between two steps, or needs a restart from a checkpoint.
  [[nodiscard]] virtual bool live() const noexcept = 0;
  /// Values worth trying under `lease` at `batch_size`, when the study names none.
  [[nodiscard]] virtual std::vector<Value> values(const LeaseSize& lease, std::int64_t batch_size) const = 0;
  /// The value of sensible static defaults under `lease` (Tune V1 with defaults = "lease").
  [[nodiscard]] virtual Value lease_default(const LeaseSize& lease) const = 0;
  /// Refuses a value that is of the wrong type or out of range, naming what is allowed.
  [[nodiscard]] virtual Result<> check(const Value& value) const = 0;
};

}  // namespace tandem::tuner
