#include "tuner/study/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tandem::tuner {

double cost_of(const Objective& objective, const Values& values) {
  const auto found = values.find(objective.name);
  if (found == values.end()) return std::numeric_limits<double>::quiet_NaN();
  return objective.maximize ? -found->second : found->second;
}

void Ranking::update(const Trial& trial) {
  if (const auto old = keys_.find(trial.id); old != keys_.end()) {
    order_.erase(old->second);
    keys_.erase(old);
  }
  if (trial.reports.empty() || trial.state == TrialState::failed) return;
  const Report& last = trial.reports.back();
  const double cost = cost_of(objective_, last.values);
  if (!std::isfinite(cost)) return;
  const Key key{cost, trial.state != TrialState::completed, -last.step, trial.id};
  keys_.emplace(trial.id, key);
  order_.insert(key);
}

std::optional<TrialId> Ranking::best() const {
  if (order_.empty()) return std::nullopt;
  return order_.begin()->trial;
}

std::vector<BestTrial> pareto_front(const std::vector<Objective>& objectives, const std::deque<Trial>& trials) {
  struct Candidate {
    std::vector<double> costs;
    const Trial* trial;
  };
  std::vector<Candidate> candidates;
  for (const auto& trial : trials) {
    if (trial.reports.empty() || trial.state == TrialState::failed) continue;
    Candidate candidate{{}, &trial};
    for (const auto& objective : objectives) candidate.costs.push_back(cost_of(objective, trial.reports.back().values));
    const bool finite =
        std::all_of(candidate.costs.begin(), candidate.costs.end(), [](double c) { return std::isfinite(c); });
    if (finite) candidates.push_back(std::move(candidate));
  }
  // In lexicographic order a point can only be beaten by an earlier one, and then by one of the front.
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.costs < b.costs; });
  std::vector<const Candidate*> front;
  for (const auto& candidate : candidates) {
    const bool beaten = std::any_of(front.begin(), front.end(), [&](const Candidate* other) {
      return other->costs != candidate.costs &&
             std::equal(other->costs.begin(), other->costs.end(), candidate.costs.begin(), std::less_equal<>());
    });
    if (!beaten) front.push_back(&candidate);
  }
  std::sort(front.begin(), front.end(), [](const auto* a, const auto* b) { return a->trial->id < b->trial->id; });
  std::vector<BestTrial> result;
  for (const auto* candidate : front) {
    const Report& last = candidate->trial->reports.back();
    result.push_back({candidate->trial->id, last.step, last.values});
  }
  return result;
}

}  // namespace tandem::tuner
