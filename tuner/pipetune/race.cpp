#include "tuner/pipetune/race.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tuner/pipetune/limits.hpp"
#include "tuner/pipetune/prediction.hpp"

namespace tandem::tuner {

namespace {

constexpr double kWindowSeconds = 0.03;  // at least: shorter ones measure the clock and the neighbours
constexpr int kFewestSteps = 2;          // of a window
constexpr int kLongestLookSteps = 32;
constexpr std::size_t kEnoughSteps = 64;    // errors of medians are ~2 % then; what is still level is as good as equal
constexpr double kConfidence = 2.0;         // standard errors
constexpr double kIndifference = 0.03;      // a gain in the logarithm that more probing is not worth
constexpr int kLongestPaidOffSteps = 8;     // of a window lengthened because the change is dear
constexpr double kAbortFactor = 2.0;        // of the incumbent's upper bound: beyond it, a look ends
constexpr double kEnergyAbortFactor = 4.0;  // a slow configuration may still need least energy
constexpr double kHopelessFactor = 1.5;     // of that: no disturbance explains it, one step is enough
constexpr double kLookShare = 0.75;         // of the budget; the rest pays for telling the best apart
constexpr double kBeforeDefaultsShare = 0.5;  // of the budget, spent before the defaults are looked at
constexpr double kDefaultsWorth = 4.0;        // steps: with a smaller budget the defaults stay unknown
constexpr double kLongStepSeconds = 0.005;    // beside these a change to several threads does not show
constexpr double kNearFactor = 1.4;           // of the incumbent: what is predicted slower is looked at last
constexpr double kWarmupShare = 0.5;          // of a step, lost to each change of the configuration
// Lost to a change to several intra-op threads, until it was seen: teams of threads are made and find their places,
// and until they have, a step waits for the kernel's next tick (measured: 20 to 50 ms with 0.1 ms steps, kernel 6.18).
constexpr double kTeamChangeSeconds = 0.025;

/// Excess seconds that one look will probably cost, the change to it apart.
double look_cost(double predicted_seconds, double incumbent_seconds, int steps) {
  const double excess = std::max(predicted_seconds - incumbent_seconds, 0.0);
  const bool aborted = predicted_seconds > kAbortFactor * incumbent_seconds;
  return excess * (aborted ? 1 : steps + 1);
}

int steps_lasting(double seconds, double step_seconds, int most) {
  if (!(step_seconds > 0)) return kFewestSteps;
  return static_cast<int>(std::clamp(std::ceil(seconds / step_seconds), 1.0 * kFewestSteps, 1.0 * most));
}

std::int64_t threads_of(const Entrant& entrant) {
  const auto found = entrant.system.find("threads");
  const auto* threads = found == entrant.system.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  return threads == nullptr ? 1 : *threads;
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
  return estimate_log(entrant.joules_per_step);
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
  if (entrants_.empty()) return std::nullopt;
  // The defaults come when the choice is safe: their cost is unknown, and wanted to be known for its own sake only.
  // They tell, too, what candidates like them have in store.
  if (auto look = next_look(Turn::promising, spent_seconds, kLookShare * budget_seconds)) return look;
  if (auto look = look_at_defaults(spent_seconds, budget_seconds)) {
    if (auto measurement = next_measurement(spent_seconds, kBeforeDefaultsShare * budget_seconds)) return measurement;
    return look;
  }
  if (auto look = next_look(Turn::near, spent_seconds, kLookShare * budget_seconds)) return look;
  if (auto measurement = next_measurement(spent_seconds, budget_seconds)) return measurement;
  return next_look(Turn::far, spent_seconds, budget_seconds);
}

RaceWindow Race::look_at(std::size_t entrant, double budget_seconds) const {
  const double incumbent = incumbent_seconds();
  int steps = steps_lasting(kWindowSeconds, incumbent, kLongestLookSteps);
  if (incumbent > 0) {  // a short trial cannot afford long looks
    const double affordable = budget_seconds / incumbent / (2.0 * static_cast<double>(entrants_.size()));
    steps = std::clamp(steps, kFewestSteps, std::max(kFewestSteps, static_cast<int>(std::min(affordable, 1e6))));
  }
  double limit = yardstick_seconds_;
  if (const auto leader = best()) {
    const LogEstimate time = estimate_log(entrants_[*leader].step_seconds);
    limit = std::exp(time.center + kConfidence * time.error);
  }
  return {entrant, steps, limit * abort_factor()};
}

std::optional<RaceWindow> Race::look_at_defaults(double spent_seconds, double budget_seconds) const {
  const Entrant& defaults = entrants_.front();
  const double incumbent = incumbent_seconds();
  if (!defaults.alive() || defaults.looked || budget_seconds <= kDefaultsWorth * incumbent) return std::nullopt;
  RaceWindow window = look_at(0, budget_seconds);
  // Of long steps the first one often says enough, and each is dear: they go without a warm-up.
  window.cold = incumbent >= kLongStepSeconds;
  if (window.cold) return window;
  // Short ones are known at full speed or not at all: what the change costs would pass for slowness.
  const double excess = std::max(predict().front() - incumbent, 0.0) * (window.steps + 1);
  if (spent_seconds + change_seconds(0) + excess > budget_seconds) return std::nullopt;
  window.abort_step_seconds = 0;
  return window;
}

std::optional<RaceWindow> Race::next_look(Turn turn, double spent_seconds, double budget_seconds) const {
  const double incumbent = incumbent_seconds();
  const std::vector<double> predicted = predict();
  std::optional<std::size_t> chosen;
  for (std::size_t i = 1; i < entrants_.size(); ++i) {
    const bool near = predicted[i] <= kNearFactor * incumbent;
    const bool its_turn = turn == Turn::far || (near && (turn == Turn::near || i <= entrants_.size() / 2));
    if (!its_turn || entrants_[i].looked || !entrants_[i].alive()) continue;
    const RaceWindow window = look_at(i, budget_seconds);
    const double cost = change_seconds(i) + look_cost(predicted[i], incumbent, window.steps);
    if (spent_seconds + cost > budget_seconds) continue;
    if (!chosen || predicted[i] < predicted[*chosen]) chosen = i;
  }
  if (!chosen) return std::nullopt;
  return look_at(*chosen, budget_seconds);
}

std::optional<RaceWindow> Race::next_measurement(double spent_seconds, double budget_seconds) const {
  const auto leader = best();
  if (!leader) return std::nullopt;
  const LogEstimate lead = score(entrants_[*leader]);
  const double incumbent = step_seconds(*leader);

  // Rivals by how good they might still be; the leader and the first of them are the two that matter (after LUCB,
  // Kalyanakrishnan et al. 2012).
  std::vector<std::pair<double, std::size_t>> rivals;
  for (std::size_t i = 0; i < entrants_.size(); ++i) {
    if (i == *leader || !entrants_[i].alive() || entrants_[i].step_seconds.empty()) continue;
    const LogEstimate own = score(entrants_[i]);
    const double possible_gain = lead.center - own.center + kConfidence * std::hypot(own.error, lead.error);
    if (possible_gain > kIndifference) rivals.emplace_back(-possible_gain, i);
  }
  std::sort(rivals.begin(), rivals.end());
  const auto known = [this](std::size_t i) { return entrants_[i].step_seconds.size(); };
  for (const auto& [unused, rival] : rivals) {
    const std::size_t chosen = known(*leader) < known(rival) ? *leader : rival;
    if (known(chosen) >= kEnoughSteps) continue;
    // As many steps again as there are, and so many that the change is worth its price.
    const double change = change_seconds(chosen);
    int steps = std::max(static_cast<int>(known(chosen)), steps_lasting(kWindowSeconds, incumbent, kLongestLookSteps));
    steps = std::max(steps, std::min(steps_lasting(change, incumbent, kLongestLookSteps), kLongestPaidOffSteps));
    const double cost = change + std::max(step_seconds(chosen) - incumbent, 0.0) * (steps + 1);
    if (spent_seconds + cost <= budget_seconds) return RaceWindow{chosen, steps, 0};
  }
  return std::nullopt;
}

double Race::change_seconds(std::size_t entrant) const {
  const double known = entrants_[entrant].change_seconds;
  if (known > 0) return known;
  const double warmup = kWarmupShare * incumbent_seconds();
  const std::int64_t threads = threads_of(entrants_[entrant]);
  if (threads < 2 || incumbent_seconds() >= kLongStepSeconds) return warmup;
  double seen = 0;  // what others with as many threads lost
  for (const Entrant& other : entrants_) {
    if (threads_of(other) == threads) seen = std::max(seen, other.change_seconds);
  }
  return std::max(seen > 0 ? seen : kTeamChangeSeconds, warmup);
}

void Race::record(const RaceWindow& window, const std::vector<double>& step_seconds, double joules_per_step,
                  double change_seconds) {
  Entrant& entrant = entrants_[window.entrant];
  const double incumbent = incumbent_seconds();
  entrant.step_seconds.insert(entrant.step_seconds.end(), step_seconds.begin(), step_seconds.end());
  keep_newest(entrant.step_seconds);
  if (change_seconds > 0) entrant.change_seconds = change_seconds;
  if (joules_per_step > 0 && !step_seconds.empty()) {
    entrant.joules_per_step.push_back(joules_per_step);
    keep_newest(entrant.joules_per_step);
  }
  const bool ended_early =
      window.abort_step_seconds > 0 && !step_seconds.empty() && step_seconds.back() > window.abort_step_seconds;
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
  return leader && entrants_[*leader].step_seconds.size() >= kFewestSteps && 3 * seen >= entrants_.size();
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
