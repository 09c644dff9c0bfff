/// Value: what a hyperparameter or a system parameter may hold. Parameters: names to values.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

namespace tandem::tuner {

/// Booleans are kept apart from integers so that JSON and TOML round-trip.
using Value = std::variant<bool, std::int64_t, double, std::string>;

/// Ordered by name, so that every listing and every hash is the same on every run.
using Parameters = std::map<std::string, Value, std::less<>>;

using TrialId = std::int64_t;  ///< 0, 1, 2, … in the order of suggestion

}  // namespace tandem::tuner
