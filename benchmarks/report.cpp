#include "benchmarks/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace tandem::bench {

std::optional<double> Measurement::ratio() const {
  if (!baseline || value <= 0 || baseline->value <= 0) return std::nullopt;
  return more_is_better ? value / baseline->value : baseline->value / value;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string to_json(const Measurement& measurement) {
  nlohmann::ordered_json line;
  line["suite"] = measurement.suite;
  line["case"] = measurement.label;
  line["metric"] = measurement.metric;
  line["value"] = measurement.value;
  line["unit"] = measurement.unit;
  line["baseline"] = nullptr;
  if (measurement.baseline) {
    line["baseline"] = {{"name", measurement.baseline->name}, {"value", measurement.baseline->value}};
  }
  line["ratio"] = nullptr;
  if (const auto ratio = measurement.ratio()) line["ratio"] = *ratio;
  line["runs"] = measurement.runs;
  return line.dump();
}

Report::Report(bool json) : json_(json || isatty(STDOUT_FILENO) == 0) {}

void Report::add(const Measurement& measurement) {
  if (json_) {
    fmt::print("{}\n", to_json(measurement));
  } else {
    const std::string heading = fmt::format("{}, median of {}", measurement.suite, measurement.runs);
    if (heading != heading_) fmt::print("{}\n", heading_ = heading);
    fmt::print("  {:28} {:24} {:>14.1f} {:10}", measurement.label, measurement.metric, measurement.value,
               measurement.unit);
    if (const auto ratio = measurement.ratio()) {
      fmt::print(" {:>14.1f} {}  {:.2f} x", measurement.baseline->value, measurement.baseline->name, *ratio);
    }
    fmt::print("\n");
  }
  std::fflush(stdout);
}

}  // namespace tandem::bench
