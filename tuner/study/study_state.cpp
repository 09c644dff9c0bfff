#include "tuner/study/study_state.hpp"

#include <algorithm>

namespace tandem::tuner {

namespace {

/// The system parameters of mode = search, as further parameters of the space.
std::vector<ParameterSpec> system_parameters(const SystemSpec& system) {
  std::vector<ParameterSpec> parameters;
  for (const auto& [name, values] : system.values) {
    if (!values.empty()) parameters.push_back({name, ChoiceDomain{values}, {}});
  }
  return parameters;
}

}  // namespace

Study::Implementation::Implementation(StudySpec study_spec, std::uint64_t study_seed)
    : spec(std::move(study_spec)),
      seed(study_seed),
      ranking(spec.objectives.empty() ? Objective{} : spec.objectives.front()) {}

Result<> Study::Implementation::prepare() {
  constexpr auto kWrong = ErrorCode::invalid_argument;
  if (spec.objectives.empty()) return tandem::fail(kWrong, "a study needs an objective");
  searched = spec.space;
  if (spec.system.mode == SystemMode::search) {
    auto more = system_parameters(spec.system);
    if (more.empty()) {
      return tandem::fail(kWrong, "[system] mode = \"search\" needs values to search, e.g. cores = [1, 2]");
    }
    auto joined = spec.space.with(std::move(more));
    if (!joined) return forward_error(joined, "[system]");
    searched = std::move(*joined);
  }
  auto made_search = make_search_algorithm(spec.search.algorithm, {searched, seed});
  if (!made_search) return forward_error(made_search, "[search]");
  search = std::move(*made_search);
  auto made_scheduler = make_trial_scheduler(
      spec.schedule.algorithm,
      {spec.trial.epochs, spec.schedule.min_epochs, spec.schedule.reduction_factor, spec.schedule.promotion});
  if (!made_scheduler) return forward_error(made_scheduler, "[schedule]");
  scheduler = std::move(*made_scheduler);
  return {};
}

Result<std::optional<Assignment>> Study::Implementation::next() {
  if (closed) return std::nullopt;
  if (auto assignment = next_waiting(interrupted_trials)) return assignment;
  if (auto assignment = next_waiting(promoted_trials)) return assignment;
  const auto point = next_point();
  if (!point) return next_waiting(promoted_trials);  // the end of the search may have promoted one
  Parameters params;
  Parameters system;
  for (const auto& [name, value] : *point) {
    (spec.space.find(name) != nullptr ? params : system).emplace(name, value);
  }
  const Trial& trial = add_trial(params, system);
  events.push_back(TrialSuggested{trial.id, std::move(params), std::move(system)});
  return assignment_of(trial);
}

std::optional<Assignment> Study::Implementation::next_waiting(std::deque<TrialId>& queue) {
  while (!queue.empty()) {
    const auto index = static_cast<std::size_t>(queue.front());
    queue.pop_front();
    if (!queued[index]) continue;  // was started, reported or ended without being handed out
    queued[index] = false;
    return assignment_of(trials[index]);
  }
  return std::nullopt;
}

std::optional<Parameters> Study::Implementation::next_point() {
  if (!can_suggest()) return std::nullopt;
  const auto id = static_cast<TrialId>(trials.size());
  if (!enqueued.empty()) {
    Parameters point = complete_enqueued(enqueued.front(), id);
    enqueued.pop_front();
    return point;
  }
  auto point = search->suggest(id);
  if (!point) {
    search_ended = true;
    settle();
  }
  return point;
}

Parameters Study::Implementation::complete_enqueued(const Parameters& params, TrialId id) const {
  Parameters point = params;
  Random random(mix_seed(mix_seed(seed, "enqueued"), static_cast<std::uint64_t>(id)));
  for (const auto& parameter : searched.parameters()) {
    if (spec.space.find(parameter.name) != nullptr || point.contains(parameter.name)) continue;
    point.emplace(parameter.name, sample_domain(parameter.domain, random));
  }
  return point;
}

Assignment Study::Implementation::assignment_of(const Trial& trial) const {
  return {trial.id, trial.params, trial.system, trial.reports.empty() ? 0 : trial.reports.back().step,
          trial.pipeline_state};
}

Trial& Study::Implementation::add_trial(const Parameters& params, const Parameters& system) {
  Trial trial;
  trial.id = static_cast<TrialId>(trials.size());
  trial.params = params;
  trial.system = system;
  trials.push_back(std::move(trial));
  queued.push_back(false);
  ++open;
  state = "running";
  Parameters point = params;
  point.insert(system.begin(), system.end());
  search->added(trials.back().id, point);
  return trials.back();
}

void Study::Implementation::record(Trial& trial, Report report) {
  Observation observation{trial.id, report.step, {}};
  for (const auto& objective : spec.objectives) observation.costs.push_back(cost_of(objective, report.values));
  trial.reports.push_back(std::move(report));
  ranking.update(trial);
  search->observed(observation);
}

void Study::Implementation::leave(Trial& trial, TrialState ended) {
  if (trial.state == TrialState::paused) {
    scheduler->withdrawn(trial.id);
  } else {
    --open;
  }
  trial.state = ended;
  if (ended == TrialState::completed) ++completed;
  ranking.update(trial);
}

void Study::Implementation::resume(TrialId id) {
  const auto index = static_cast<std::size_t>(id);
  trials[index].state = TrialState::waiting;
  queued[index] = true;
  promoted_trials.push_back(id);
  ++open;
}

std::vector<TrialId> Study::Implementation::settle() {
  auto promoted = scheduler->promote();
  if (!promoted && open == 0 && completed == 0 && !can_suggest()) promoted = scheduler->promote_last_resort();
  if (!promoted) return {};
  resume(*promoted);
  return {*promoted};
}

bool Study::Implementation::exhausted() const { return search_ended || search->exhausted(); }

bool Study::Implementation::can_suggest() const {
  return trials.size() < static_cast<std::size_t>(spec.max_trials) && (!enqueued.empty() || !exhausted());
}

}  // namespace tandem::tuner
