/// Report: what a suite measured, as one JSON line each, or as a table for a person at a terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tandem::bench {

struct Baseline {
  std::string name;
  double value = 0;
};

struct Measurement {
  std::string suite;
  std::string label;  ///< the case
  std::string metric;
  double value = 0;  ///< median of the runs
  std::string unit;
  std::optional<Baseline> baseline;
  int runs = 0;
  bool more_is_better = true;  ///< false for times and bytes: the ratio is turned over

  /// Ours over theirs; more than 1 is better for us.
  [[nodiscard]] std::optional<double> ratio() const;
};

/// The middle value; of an even number, the mean of the two in the middle. 0 of none.
[[nodiscard]] double median(std::vector<double> values);

/// {"suite","case","metric","value","unit","baseline":{"name","value"}|null,"ratio","runs"}
[[nodiscard]] std::string to_json(const Measurement& measurement);

class Report {
 public:
  /// JSON lines when `json`, or when standard output is no terminal.
  explicit Report(bool json);
  void add(const Measurement& measurement);

 private:
  bool json_;
  std::string heading_;  // of the table under way
};

}  // namespace tandem::bench
