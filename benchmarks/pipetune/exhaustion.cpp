#include "benchmarks/pipetune/exhaustion.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "benchmarks/pipetune/tandem_run.hpp"
#include "tuner/pipetune/catalog.hpp"

namespace tandem::benchmarks {

namespace {

std::int64_t integer(const tuner::Parameters& system, const char* name) {
  return std::get<std::int64_t>(system.at(name));
}

Result<double> epoch_seconds(const ExhaustionSettings& settings, const tuner::Parameters& system, std::int64_t batch) {
  const std::int64_t share = batch / integer(system, "replicas");
  const std::int64_t chunk = integer(system, "micro_batch") > share ? 0 : integer(system, "micro_batch");
  auto text = output_of(
      {settings.program, settings.data, std::to_string(batch), std::to_string(integer(system, "cores")),
       std::to_string(integer(system, "threads")), std::to_string(integer(system, "replicas")), std::to_string(chunk),
       std::get<std::string>(system.at("allocator")),
       std::to_string(std::max<std::int64_t>(settings.samples / batch, 6))},
      {"OMP_WAIT_POLICY=passive", "OPENBLAS_THREAD_TIMEOUT=4", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"});
  if (!text) return forward_error(text);
  const auto line = nlohmann::json::parse(*text, nullptr, false);
  if (!line.is_object()) return fail(ErrorCode::internal, "{} printed no JSON", settings.program);
  return line.at("epoch_seconds").get<double>();
}

/// What makes sense at the largest batch, where no chunk is too large.
std::vector<tuner::Parameters> all_configurations(int cores, std::int64_t largest_batch) {
  std::vector<tuner::Parameters> all;
  for (int each = 1; each <= cores; ++each) {
    const tuner::LeaseSize lease{each, 0};
    for (auto& system : tuner::Catalog::builtin().candidates({}, lease, largest_batch)) {
      if (std::find(all.begin(), all.end(), system) == all.end()) all.push_back(std::move(system));
    }
  }
  return all;
}

}  // namespace

Result<std::vector<StaticConfiguration>> exhaust(const ExhaustionSettings& settings) {
  std::map<std::int64_t, int> times;
  for (const std::int64_t batch : settings.batch_sizes) ++times[batch];
  if (times.empty()) return fail(ErrorCode::invalid_argument, "the study has no batch sizes");
  std::vector<StaticConfiguration> ranked;
  for (const auto& system : all_configurations(settings.cores, times.rbegin()->first)) {
    StaticConfiguration one{system, 0};
    for (const auto& [batch, count] : times) {
      const auto seconds = epoch_seconds(settings, system, batch);
      if (!seconds) return forward_error(seconds);
      one.epoch_seconds += *seconds * count;
    }
    ranked.push_back(std::move(one));
  }
  std::sort(ranked.begin(), ranked.end(),
            [](const auto& a, const auto& b) { return a.epoch_seconds < b.epoch_seconds; });
  return ranked;
}

}  // namespace tandem::benchmarks
