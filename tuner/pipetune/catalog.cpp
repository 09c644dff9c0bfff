#include "tuner/pipetune/catalog.hpp"

#include <algorithm>
#include <string>
#include <tuple>

#include "tuner/pipetune/limits.hpp"
#include "tuner/pipetune/parameters/builtin.hpp"
#include "tuner/space/value_text.hpp"
#include "tuner/study/study_spec.hpp"

namespace tandem::tuner {

namespace {

/// Below so many samples a core, synchronising costs more than it shares out.
constexpr std::int64_t kSmallStepSamples = 128;

/// The values the study names for a parameter; nullptr: none, the catalog's own hold.
const std::vector<Value>* named(const SystemSpec& spec, std::string_view name) {
  const auto found = spec.values.find(name);
  return found == spec.values.end() || found->second.empty() ? nullptr : &found->second;
}

std::int64_t integer(const Parameters& system, std::string_view name) {
  const auto found = system.find(name);
  const auto* value = found == system.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return value == nullptr ? 0 : *value;
}

bool retains(const Parameters& system) {
  const auto found = system.find("allocator");
  return found != system.end() && found->second == Value(std::string("retain"));
}

/// What a chunk holds in the end: the same for configurations that cut a batch alike.
std::int64_t chunk_size(const Parameters& system, std::int64_t batch_size) {
  const std::int64_t replicas = std::max<std::int64_t>(integer(system, "replicas"), 1);
  const std::int64_t share = (batch_size + replicas - 1) / replicas;
  const std::int64_t chunk = integer(system, "micro_batch");
  return chunk == 0 ? share : std::min(chunk, share);
}

/// Every core is used, and every replica has a sample.
bool sensible(const Parameters& system, std::int64_t batch_size) {
  const std::int64_t replicas = integer(system, "replicas");
  return integer(system, "threads") * replicas == integer(system, "cores") && replicas <= batch_size;
}

bool equivalent(const Parameters& a, const Parameters& b, std::int64_t batch_size) {
  if (chunk_size(a, batch_size) != chunk_size(b, batch_size)) return false;
  return std::all_of(a.begin(), a.end(), [&](const auto& item) {
    if (item.first == "micro_batch") return true;
    const auto other = b.find(item.first);
    return other != b.end() && other->second == item.second;
  });
}

/// What has won most often stands first: memory kept, all cores, replicas before threads, small chunks.
bool more_promising(const Parameters& a, const Parameters& b, std::int64_t batch_size) {
  const auto rank = [batch_size](const Parameters& system) {
    return std::tuple(!retains(system), -integer(system, "cores"), -integer(system, "replicas"),
                      chunk_size(system, batch_size));
  };
  return rank(a) < rank(b);
}

Result<> check_list(const SystemParameter& parameter, const std::vector<Value>& values) {
  for (auto value = values.begin(); value != values.end(); ++value) {
    if (auto checked = parameter.check(*value); !checked) return checked;
    if (std::find(values.begin(), value, *value) != value) {
      return fail(ErrorCode::invalid_argument, "{}: {} is listed twice", parameter.name(), to_text(*value));
    }
  }
  return {};
}

}  // namespace

const Catalog& Catalog::builtin() {
  static const Catalog catalog({
      &cores_parameter(),
      &threads_parameter(),
      &replicas_parameter(),
      &micro_batch_parameter(),
      &allocator_parameter(),
  });
  return catalog;
}

const SystemParameter* Catalog::find(std::string_view name) const noexcept {
  const auto found = std::find_if(parameters_.begin(), parameters_.end(),
                                  [name](const SystemParameter* parameter) { return parameter->name() == name; });
  return found == parameters_.end() ? nullptr : *found;
}

std::vector<const SystemParameter*> Catalog::all() const { return parameters_; }

Result<> Catalog::check(const SystemSpec& spec) const {
  std::vector<std::string_view> known;
  std::size_t combinations = 1;
  for (const SystemParameter* parameter : parameters_) known.push_back(parameter->name());
  for (const auto& [name, values] : spec.values) {
    const SystemParameter* parameter = find(name);
    if (parameter == nullptr) {
      const std::string_view near = nearest_name(name, known);
      return fail(ErrorCode::invalid_argument, "no system parameter is called '{}'; there are {}{}", name,
                  fmt::join(known, ", "), near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
    }
    if (auto checked = check_list(*parameter, values); !checked) return checked;
    combinations *= std::max<std::size_t>(values.size(), 1);
    if (combinations > limits::kMaxListedCombinations) {
      return fail(ErrorCode::invalid_argument, "the lists combine to more than {} configurations; '{}' is one too many",
                  limits::kMaxListedCombinations, name);
    }
  }
  if (!(spec.probe_budget >= 0 && spec.probe_budget <= 1)) {
    return fail(ErrorCode::invalid_argument, "probe_budget = {}: must be from 0 to 1", spec.probe_budget);
  }
  const std::vector<Value>* cores = named(spec, "cores");
  if (cores == nullptr) return {};
  const auto most = std::get<std::int64_t>(*std::max_element(cores->begin(), cores->end()));
  for (const auto* name : {"threads", "replicas"}) {
    const std::vector<Value>* values = named(spec, name);
    if (values == nullptr) continue;
    const auto least = std::get<std::int64_t>(*std::min_element(values->begin(), values->end()));
    if (least > most) {
      return fail(ErrorCode::infeasible, "{} = {} needs as many cores, but cores is at most {}", name, least, most);
    }
  }
  return {};
}

int Catalog::lease_cores(const SystemSpec& spec, int worker_cores) const {
  const int available = std::max(worker_cores, 1);
  const std::vector<Value>* cores = named(spec, "cores");
  if (cores == nullptr) return available;
  std::int64_t most = 1;
  for (const Value& value : *cores) {
    if (const auto* count = std::get_if<std::int64_t>(&value)) most = std::max(most, *count);
  }
  return static_cast<int>(std::min<std::int64_t>(most, available));
}

void Catalog::fit_to_batch(Parameters& system, std::int64_t batch_size) {
  const std::int64_t replicas = std::max<std::int64_t>(integer(system, "replicas"), 1);
  if (integer(system, "micro_batch") > batch_size / replicas) system.insert_or_assign("micro_batch", std::int64_t{0});
}

Parameters Catalog::lease_defaults(const SystemSpec& spec, const LeaseSize& lease) const {
  Parameters system;
  for (const SystemParameter* parameter : parameters_) {
    Value value = parameter->lease_default(lease);
    const std::vector<Value>* values = named(spec, parameter->name());
    if (values != nullptr && std::find(values->begin(), values->end(), value) == values->end()) value = values->front();
    system.emplace(parameter->name(), std::move(value));
  }
  fit_to_lease(spec, lease, system);
  return system;
}

void Catalog::fit_to_lease(const SystemSpec& spec, const LeaseSize& lease, Parameters& system) const {
  // A study may name more cores than this worker has; a lease is never exceeded.
  const std::int64_t cores = lease_cores(spec, lease.cores);
  system.insert_or_assign("cores", cores);
  // The replicas share these cores; a list of threads offers the most that fit, a value pinned stays.
  const std::int64_t share = std::max<std::int64_t>(cores / std::max<std::int64_t>(integer(system, "replicas"), 1), 1);
  std::int64_t threads = share;
  if (const std::vector<Value>* values = named(spec, "threads")) {
    threads = 0;
    for (const Value& value : *values) {
      const auto* count = std::get_if<std::int64_t>(&value);
      if (count != nullptr && *count <= share) threads = std::max(threads, *count);
    }
  }
  if (threads > 0) system.insert_or_assign("threads", threads);
}

Parameters Catalog::defaults(const SystemSpec& spec, const LeaseSize& lease) const {
  Parameters system = lease_defaults(spec, lease);
  if (spec.defaults == SystemDefaults::framework) {
    std::erase_if(system, [&spec](const auto& item) {
      const std::vector<Value>* values = named(spec, item.first);
      return values == nullptr || values->size() != 1;
    });
  }
  return system;
}

std::vector<Parameters> Catalog::candidates(const SystemSpec& spec, const LeaseSize& lease,
                                            std::int64_t batch_size) const {
  const std::int64_t batch = std::max<std::int64_t>(batch_size, 1);
  std::vector<Parameters> grid{{}};
  for (const SystemParameter* parameter : parameters_) {
    const std::vector<Value>* values = named(spec, parameter->name());
    const std::vector<Value> own = values == nullptr ? parameter->values(lease, batch) : std::vector<Value>();
    std::vector<Parameters> longer;
    for (const Parameters& system : grid) {
      for (const Value& value : values == nullptr ? own : *values) {
        longer.push_back(system);
        longer.back().emplace(parameter->name(), value);
      }
    }
    grid = std::move(longer);
  }
  std::erase_if(grid, [&](const Parameters& system) {
    return integer(system, "cores") > lease.cores || !sensible(system, batch);
  });
  for (Parameters& system : grid) fit_to_batch(system, batch);
  std::stable_sort(grid.begin(), grid.end(),
                   [batch](const Parameters& a, const Parameters& b) { return more_promising(a, b, batch); });

  std::vector<Parameters> chosen{lease_defaults(spec, lease)};
  fit_to_batch(chosen.front(), batch);
  for (Parameters& system : grid) {
    if (chosen.size() >= limits::kMaxCandidates) break;
    const bool known = std::any_of(chosen.begin(), chosen.end(),
                                   [&](const Parameters& other) { return equivalent(system, other, batch); });
    if (!known) chosen.push_back(std::move(system));
  }
  return chosen;
}

Parameters Catalog::reference(const SystemSpec& spec, const LeaseSize& lease, std::int64_t batch_size) const {
  const std::vector<Parameters> grid = candidates(spec, lease, batch_size);
  // In small steps the barriers of several threads can cost many times the work, and never twice the same: profiles
  // taken under replicas agree with one another. In large ones they do not show, and the profile tells of threads what
  // the probing budget could not afford to ask.
  const bool small_steps = batch_size < kSmallStepSamples * lease.cores;
  const auto cost = [batch_size, small_steps](const Parameters& system) {
    const std::int64_t first = small_steps ? integer(system, "threads") : integer(system, "replicas");
    return std::tuple(!retains(system), first, -integer(system, "cores"), chunk_size(system, batch_size));
  };
  return *std::min_element(grid.begin(), grid.end(),
                           [&cost](const Parameters& a, const Parameters& b) { return cost(a) < cost(b); });
}

Result<> check_system_spec(const SystemSpec& spec) { return Catalog::builtin().check(spec); }

}  // namespace tandem::tuner
