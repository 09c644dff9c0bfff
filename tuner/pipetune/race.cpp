#include "tuner/pipetune/race.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tuner/pipetune/limits.hpp"
#include "tuner/pipetune/prediction.hpp"

namespace tandem::tuner {

namespace {

constexpr double kWindowSeconds = 0.03;    // at least: shorter ones measure the clock and the neighbours
constexpr int kFewestSteps = 2;            // of a window
constexpr int kLongestLookSteps = 32;
constexpr std::size_t kEnoughSteps = 64;   // errors of medians are ~2 % then; what is still level is as good as equal
constexpr double kConfidence = 2.0;        // standard errors
constexpr double kAbortFactor = 2.0;       // of the incumbent's upper bound: beyond it, a look ends
constexpr double kEnergyAbortFactor = 4.0; // a slow configuration may still need least energy
constexpr double kHopelessFactor = 1.5;    // of that: no disturbance explains it, one step is enough
constexpr double kLookShare = 0.75;        // of the budget; the rest pays for telling the best apart
constexpr double kWarmupShare = 0.5;       // of a step, lost to each change of the configuration

/// Excess seconds that one look will probably cost.
double look_cost(double predicted_seconds, double incumbent_seconds, int steps) {
  const double excess = std::max(predicted_seconds - incumbent_seconds, 0.0);
  const bool aborted = predicted_seconds > kAbortFactor * incumbent_seconds;
  return kWarmupShare * incumbent_seconds + excess * (aborted ? 1 : steps + 1);
}

int steps_lasting(double seconds, double step_seconds, int most) {
  if (!(step_seconds > 0)) return kFewestSteps;
  return static_cast<int>(std::clamp(std::ceil(seconds / step_seconds), 1.0 * kFewestSteps, 1.0 * most));
}

template <class T>
void keep_newest(std::vector<T>& values) {
  if (values.size() > limits::kMaxStepSamples) {
    values.erase(values.begin(), values.end() - static_cast<std::ptrdiff_t>(limits::kMaxStepSamples));
  }
}

}  // namespace

Race::Race(const std::vector<Parameters>& candidates, bool minimize_energy) : minimize_energy_(minimize_energy) {
  for (const Parameters& system : candidates) {
    entrants_.emplace_back();
    entrants_.back().system = system;
  }
}

Race::Race(std::vector<Entrant> entrants, bool minimize_energy, double yardstick_seconds)
    : entrants_(std::move(entrants)), minimize_energy_(minimize_energy), yardstick_seconds_(yardstick_seconds) {}

std::optional<std::size_t> Race::find(const Parameters& system) const {
  const auto found = std::find_if(entrants_.begin(), entrants_.end(),
                                  [&system](const Entrant& entrant) { return entrant.system == system; });
  if (found == entrants_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - entrants_.begin());
}

bool Race::by_energy() const {
  return minimize_energy_ && std::all_of(entrants_.begin(), entrants_.end(), [](const Entrant& entrant) {
           return entrant.step_seconds.empty() || !entrant.joules_per_step.empty() || !entrant.alive();
         });
}

LogEstimate Race::score(const Entrant& entrant) const {
  if (!by_energy()) return estimate_log(entrant.step_seconds);
  LogEstimate estimate = estimate_log(entrant.joules_per_step);
  estimate.count = entrant.step_seconds.size();
  return estimate;
}

std::optional<std::size_t> Race::best() const {
  std::optional<std::size_t> best;
  double least = std::numeric_limits<double>::infinity();
  for (const bool alive_only : {true, false}) {
    for (std::size_t i = 0; i < entrants_.size(); ++i) {
      const Entrant& entrant = entrants_[i];
      if (!entrant.usable() || entrant.step_seconds.empty() || (alive_only && !entrant.alive())) continue;
      const LogEstimate estimate = score(entrant);
      if (estimate.count == 0 || !(estimate.center < least)) continue;
      least = estimate.center;
      best = i;
    }
    if (best) break;
  }
  return best;
}

double Race::step_seconds(std::size_t entrant) const { return median(entrants_[entrant].step_seconds); }

double Race::abort_factor() const noexcept { return minimize_energy_ ? kEnergyAbortFactor : kAbortFactor; }

double Race::incumbent_seconds() const {
  const auto incumbent = best();
  return incumbent ? step_seconds(*incumbent) : yardstick_seconds_;
}

std::optional<RaceWindow> Race::next(double spent_seconds, double budget_seconds) const {
  if (auto look = next_look(spent_seconds, budget_seconds)) return look;
  return next_measurement(spent_seconds, budget_seconds);
}

std::optional<RaceWindow> Race::next_look(double spent_seconds, double budget_seconds) const {
  const double incumbent = incumbent_seconds();
  const std::vector<double> predicted = predict();
  const auto count = static_cast<double>(entrants_.size());
  int steps = steps_lasting(kWindowSeconds, incumbent, kLongestLookSteps);
  if (incumbent > 0) {  // a short trial cannot afford long looks
    steps = std::min(steps, std::max(kFewestSteps, static_cast<int>(budget_seconds / incumbent / (2 * count))));
  }
  const auto affordable = [&](std::size_t i) {
    if (i == 0) return budget_seconds > 4 * incumbent;  // what the defaults take is wanted whatever it costs
    return spent_seconds + look_cost(predicted[i], incumbent, steps) <= kLookShare * budget_seconds;
  };

  // The first half as promised, then the defaults, which tell what the other half has in store.
  std::optional<std::size_t> chosen;
  const auto turn = [&](std::size_t i) { return i == 0 ? 1 : (i - 1) < entrants_.size() / 2 ? 0 : 2; };
  for (std::size_t i = 0; i < entrants_.size(); ++i) {
    const Entrant& entrant = entrants_[i];
    if (entrant.looked || !entrant.alive() || !affordable(i)) continue;
    const auto rank = [&](std::size_t j) { return std::pair(turn(j), predicted[j]); };
    if (!chosen || rank(i) < rank(*chosen)) chosen = i;
  }
  if (!chosen) return std::nullopt;

  double limit = yardstick_seconds_;
  if (const auto leader = best()) {
    const LogEstimate time = estimate_log(entrants_[*leader].step_seconds);
    limit = std::exp(time.center + kConfidence * time.error);
  }
  return RaceWindow{*chosen, steps, limit * abort_factor()};
}

std::optional<RaceWindow> Race::next_measurement(double spent_seconds, double budget_seconds) const {
  const auto leader = best();
  if (!leader) return std::nullopt;
  std::vector<std::size_t> level;
  for (std::size_t i = 0; i < entrants_.size(); ++i) {
    if (entrants_[i].alive() && !entrants_[i].step_seconds.empty()) level.push_back(i);
  }
  if (level.size() < 2) return std::nullopt;
  const double incumbent = step_seconds(*leader);
  std::sort(level.begin(), level.end(), [this](std::size_t a, std::size_t b) {
    return entrants_[a].step_seconds.size() < entrants_[b].step_seconds.size();
  });
  for (const std::size_t i : level) {
    const std::size_t known = entrants_[i].step_seconds.size();
    if (known >= kEnoughSteps) continue;
    // As many steps again as there are: rounds grow as fewer are left in them.
    int steps = std::max(static_cast<int>(known), steps_lasting(kWindowSeconds, incumbent, kLongestLookSteps));
    steps = std::min(steps, static_cast<int>(kEnoughSteps));
    const double cost = kWarmupShare * incumbent + std::max(step_seconds(i) - incumbent, 0.0) * (steps + 1);
    if (spent_seconds + cost > budget_seconds) continue;
    return RaceWindow{i, steps, 0};
  }
  return std::nullopt;
}

void Race::record(const RaceWindow& window, const std::vector<double>& step_seconds, double joules_per_step) {
  Entrant& entrant = entrants_[window.entrant];
  const double incumbent = incumbent_seconds();
  entrant.step_seconds.insert(entrant.step_seconds.end(), step_seconds.begin(), step_seconds.end());
  keep_newest(entrant.step_seconds);
  if (joules_per_step > 0 && !step_seconds.empty()) {
    entrant.joules_per_step.push_back(joules_per_step);
    keep_newest(entrant.joules_per_step);
  }
  const bool ended_early = window.abort_step_seconds > 0 && !step_seconds.empty() &&
                           step_seconds.back() > window.abort_step_seconds;
  if (ended_early) {
    // One slow step may be a neighbour's doing: the candidate gets a second look, unless it is slow beyond that.
    ++entrant.bad_looks;
    const double hopeless_seconds = kHopelessFactor * abort_factor() * incumbent;
    entrant.dropped = entrant.bad_looks >= 2 || (incumbent > 0 && step_seconds.back() > hopeless_seconds);
    entrant.looked = entrant.dropped;
  } else if (static_cast<int>(entrant.step_seconds.size()) >= std::min(window.steps, kFewestSteps)) {
    entrant.looked = true;
  }
  drop_losers();
}

void Race::drop_losers() {
  const auto leader = best();
  if (!leader) return;
  const LogEstimate lead = score(entrants_[*leader]);
  for (std::size_t i = 0; i < entrants_.size(); ++i) {
    Entrant& entrant = entrants_[i];
    if (i == *leader || !entrant.looked || !entrant.alive() || entrant.step_seconds.empty()) continue;
    const LogEstimate own = score(entrant);
    if (own.center - lead.center > kConfidence * std::hypot(own.error, lead.error)) entrant.beaten = true;
  }
}

void Race::remove(std::size_t entrant, std::string apply_error) {
  entrants_[entrant].apply_error = apply_error.empty() ? "not applied" : std::move(apply_error);
}

void Race::restart() {
  for (Entrant& entrant : entrants_) {
    if (!entrant.step_seconds.empty()) entrant.prior_seconds = median(entrant.step_seconds);
    if (entrant.dropped) continue;
    entrant.step_seconds.clear();
    entrant.joules_per_step.clear();
    entrant.bad_looks = 0;
    entrant.looked = entrant.beaten = false;
  }
}

bool Race::conclusive() const {
  std::size_t seen = 0;
  for (const Entrant& entrant : entrants_) seen += entrant.looked || !entrant.usable() ? 1 : 0;
  const auto leader = best();
  return leader && entrants_[*leader].step_seconds.size() >= kFewestSteps && 2 * seen >= entrants_.size();
}

std::vector<double> Race::predict() const {
  std::vector<Parameters> systems;
  std::vector<double> known;
  for (const Entrant& entrant : entrants_) {
    systems.push_back(entrant.system);
    known.push_back(entrant.step_seconds.empty() ? entrant.prior_seconds : median(entrant.step_seconds));
  }
  return predict_step_seconds(systems, known, yardstick_seconds_);
}

}  // namespace tandem::tuner
