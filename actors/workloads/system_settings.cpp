#include "actors/workloads/system_settings.hpp"

#include <algorithm>
#include <string>

#include "runtime/executor/local_executor.hpp"
#include "tuner/space/value_text.hpp"

namespace tandem::actors {

namespace {

using runtime::AllocatorKind;

constexpr std::int64_t kProcessors = 4'096;
constexpr std::int64_t kIntraOpThreads = 256;

Result<std::int64_t> integer_in(const std::string& name, const tuner::Value& value, std::int64_t low,
                                std::int64_t high) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  if (integer != nullptr && *integer >= low && *integer <= high) return *integer;
  return fail(ErrorCode::invalid_argument, "{} = {} is not allowed: it must be an integer from {} to {}", name,
              tuner::to_text(value), low, high);
}

}  // namespace

Result<SystemSettings> SystemSettings::with(const tuner::Parameters& system, std::int64_t batch_size) const {
  SystemSettings next = *this;
  for (const auto& [name, value] : system) {
    Result<std::int64_t> number = 0;
    if (name == "cores") {
      if ((number = integer_in(name, value, 1, kProcessors))) next.cores = static_cast<int>(*number);
    } else if (name == "threads") {
      if ((number = integer_in(name, value, 1, kIntraOpThreads))) next.threads = static_cast<int>(*number);
    } else if (name == "replicas") {
      const std::int64_t most = std::min<std::int64_t>(batch_size, runtime::LocalExecutor::kExecutorSlots);
      if ((number = integer_in(name, value, 1, most))) next.replicas = static_cast<int>(*number);
    } else if (name == "micro_batch") {
      if ((number = integer_in(name, value, 0, batch_size))) next.micro_batch = *number;
    } else if (name == "allocator") {
      const auto* kind = std::get_if<std::string>(&value);
      if (kind == nullptr || (*kind != "default" && *kind != "retain")) {
        return fail(ErrorCode::invalid_argument, "allocator = {} is not allowed: it must be default or retain",
                    tuner::to_text(value));
      }
      next.allocator = *kind == "retain" ? AllocatorKind::retaining : AllocatorKind::framework;
    } else {
      return fail(ErrorCode::invalid_argument,
                  "there is no system parameter '{}' here; known: cores, threads, replicas, micro_batch, allocator",
                  name);
    }
    if (!number) return forward_error(number);
  }
  return next;
}

std::int64_t SystemSettings::chunks(std::int64_t samples) const noexcept {
  if (micro_batch > 0) return (samples + micro_batch - 1) / micro_batch;
  return std::min<std::int64_t>(replicas, samples);
}

std::pair<std::int64_t, std::int64_t> SystemSettings::chunk_bounds(std::int64_t chunk,
                                                                   std::int64_t samples) const noexcept {
  if (micro_batch > 0) return {chunk * micro_batch, std::min((chunk + 1) * micro_batch, samples)};
  const std::int64_t count = chunks(samples);
  return {chunk * samples / count, (chunk + 1) * samples / count};
}

}  // namespace tandem::actors
