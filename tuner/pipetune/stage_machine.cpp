#include "tuner/pipetune/stage_machine.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tuner/pipetune/limits.hpp"
#include "tuner/pipetune/step_statistics.hpp"

namespace tandem::tuner {

namespace {

constexpr std::int64_t kFewestTotalSteps = 10;  // a shorter trial is over before anything is known
constexpr int kSettlingSteps = 2;               // first profile window; a model's first step builds its primitives
constexpr int kProfileSteps = 3;                // at least, of the window the profile is made from
constexpr int kLongestProfileSteps = 40;
constexpr double kProfileSeconds = 0.03;
constexpr double kBriefStepSeconds = 0.02;  // two warm-up steps cost little then; of longer steps one must do
constexpr double kVerificationSeconds = 0.05;
constexpr int kFewestVerificationSteps = 4;
constexpr int kLongestVerificationSteps = 64;
constexpr int kVerifications = 2;         // windows in which a hit may disappoint before it is refuted
constexpr double kRefutingFactor = 1.15;  // of the expected step time
constexpr double kMostCorrection = 1.5;   // of what a probe expected; beyond it conditions have changed
constexpr double kWatchSeconds = 1.0;
constexpr int kFewestWatchSteps = 8;
constexpr int kLongestWatchSteps = 4'096;
constexpr double kDriftFactor = 1.25;               // off the expectation, either way
constexpr int kDriftWindows = 3;                    // in a row
constexpr std::int64_t kFewestStepsToReprobe = 40;  // left in the trial, or a new configuration cannot pay back
constexpr int kMostEmptyWindows = 8;                // in a row, before a candidate counts as not working

int steps_lasting(double seconds, double step_seconds, int fewest, int most) {
  if (!(step_seconds > 0)) return fewest;
  return static_cast<int>(std::clamp(std::ceil(seconds / step_seconds), 1.0 * fewest, 1.0 * most));
}

/// 0: not known.
double joules_per_step(const WindowResult& result) {
  const double joules = result.steps > 0 ? result.energy_joules / result.steps : 0;
  return std::isfinite(joules) ? std::max(joules, 0.0) : 0;
}

/// Step times that can be reckoned with.
std::vector<double> usable(const std::vector<double>& step_seconds) {
  std::vector<double> kept;
  std::copy_if(step_seconds.begin(), step_seconds.end(), std::back_inserter(kept),
               [](double seconds) { return std::isfinite(seconds) && seconds > 0; });
  return kept;
}

}  // namespace

std::string_view to_string(Stage stage) noexcept {
  switch (stage) {
    case Stage::profile:
      return "profile";
    case Stage::match:
      return "match";
    case Stage::probe:
      return "probe";
    case Stage::exploit:
      return "exploit";
  }
  return "exploit";
}

StageMachine::StageMachine(StageSettings settings)
    : settings_(std::move(settings)),
      race_(settings_.candidates, settings_.minimize_energy),
      reference_(settings_.reference) {
  if (settings_.candidates.size() < 2 || settings_.total_steps < kFewestTotalSteps) {
    exploit(settings_.candidates.empty() ? Parameters{} : settings_.candidates.front(), 0);
  }
  plan();
}

bool StageMachine::awaiting_match() const noexcept { return awaiting_match_; }

void StageMachine::matched(const std::optional<GroundTruthHit>& hit) {
  if (!awaiting_match_) return;
  awaiting_match_ = false;
  const auto advised = hit ? race_.find(hit->best) : std::nullopt;
  if (advised && race_.entrants()[*advised].usable()) {
    hit_ = hit;
    default_step_seconds_ = hit->default_step_seconds;
    verifications_ = kVerifications;
    exploit(hit->best, hit->expected_step_seconds);
  } else {
    start_probe();
  }
  plan();
}

WindowRequest StageMachine::next() const { return request_; }

void StageMachine::completed(const WindowRequest& request, const WindowResult& result) {
  if (!result.applied) {
    not_applied(request, result);
    plan();
    return;
  }
  const std::vector<double> measured = usable(result.step_seconds);
  book(request, result, measured);
  empty_windows_ = measured.empty() ? empty_windows_ + 1 : 0;
  switch (stage_) {
    case Stage::profile:
      profiled(result, measured);
      break;
    case Stage::match:
      break;
    case Stage::probe:
      probed(request, result, measured);
      break;
    case Stage::exploit:
      exploited(measured);
      break;
  }
  plan();
}

// --- accounts ---

void StageMachine::book(const WindowRequest& request, const WindowResult& result, const std::vector<double>& measured) {
  const int steps = std::max(result.steps, static_cast<int>(measured.size()));
  double seconds = result.seconds;
  if (!(std::isfinite(seconds) && seconds > 0)) seconds = std::accumulate(measured.begin(), measured.end(), 0.0);
  if (active_ != request.system) active_steps_ = 0;
  active_ = request.system;
  active_steps_ += steps;
  const std::int64_t from = done_steps_;
  done_steps_ += steps;
  training_seconds_ += seconds;
  if (request.stage != Stage::exploit) {
    probe_steps_ += steps;
    open_steps_ += steps;
    open_seconds_ += seconds;
  }
  if (!records_.empty() && records_.back().stage == request.stage && records_.back().system == request.system &&
      records_.back().to_step == from) {
    records_.back().to_step = done_steps_;
    records_.back().seconds += seconds;
  } else if (steps > 0) {
    if (records_.size() >= limits::kMaxUntakenRecords) records_.erase(records_.begin());
    records_.push_back({request.stage, from, done_steps_, seconds, request.system});
  }
}

std::int64_t StageMachine::steps_left() const noexcept {
  return std::max<std::int64_t>(settings_.total_steps - done_steps_, 0);
}

double StageMachine::best_step_seconds() const {
  if (stage_ == Stage::exploit && expected_step_seconds_ > 0) return expected_step_seconds_;
  if (const auto best = race_.best()) return race_.step_seconds(*best);
  return median(profile_seconds_);
}

double StageMachine::budget_seconds() const {
  const double total = training_seconds_ + best_step_seconds() * static_cast<double>(steps_left());
  return std::max(settings_.budget_share, 0.0) * total;
}

double StageMachine::excess_seconds() const noexcept {
  const double open = open_seconds_ - best_step_seconds() * static_cast<double>(open_steps_);
  return settled_excess_seconds_ + std::max(open, 0.0);
}

void StageMachine::settle_excess() {
  settled_excess_seconds_ = excess_seconds();
  open_seconds_ = 0;
  open_steps_ = 0;
}

// --- profile ---

void StageMachine::profiled(const WindowResult& result, const std::vector<double>& measured) {
  if (empty_windows_ >= kMostEmptyWindows) return start_probe();
  if (measured.empty()) return;
  const bool settled = !profile_seconds_.empty();
  profile_seconds_ = measured;
  if (!settled) return;  // the first steps only tell how long the next window must be
  race_.set_yardstick(median(measured));
  if (const auto entrant = race_.find(reference_)) {
    race_.record({*entrant, static_cast<int>(measured.size())}, measured, joules_per_step(result), 0);
  }
  stage_ = Stage::match;
  awaiting_match_ = true;
}

// --- probe ---

void StageMachine::start_probe() {
  stage_ = Stage::probe;
  verifications_ = 0;
  departures_ = 0;
  empty_windows_ = 0;
}

void StageMachine::probed(const WindowRequest& request, const WindowResult& result,
                          const std::vector<double>& measured) {
  const auto entrant = race_.find(request.system);
  if (!entrant) return;
  if (measured.empty()) {
    if (empty_windows_ >= kMostEmptyWindows) race_.remove(*entrant, "no step could be measured");
    return;
  }
  const int unmeasured = result.steps - static_cast<int>(measured.size());
  double change_seconds = 0;
  if (unmeasured > 0) {
    change_seconds = result.seconds - std::accumulate(measured.begin(), measured.end(), unmeasured * median(measured));
  }
  race_.record({*entrant, request.steps - request.warmup_steps, request.abort_step_seconds}, measured,
               joules_per_step(result), std::isfinite(change_seconds) ? change_seconds : 0);
}

void StageMachine::finish_probe() {
  finding_ = race_.conclusive();
  if (hit_ && finding_) {
    const auto best = race_.best();
    if (race_.entrants()[*best].system != hit_->best) contradiction_ = hit_->entry;
    hit_.reset();
  }
  if (const auto best = race_.best()) {
    exploit(race_.entrants()[*best].system, race_.step_seconds(*best));
  } else {
    const auto& entrants = race_.entrants();
    const auto usable = std::find_if(entrants.begin(), entrants.end(), [](const Entrant& e) { return e.usable(); });
    exploit(usable == entrants.end() ? Parameters{} : usable->system, 0);
  }
  settle_excess();
  calibrating_ = true;
}

void StageMachine::probe_again() {
  ++reprobes_;
  settle_excess();
  default_step_seconds_ = default_step_seconds();
  race_.set_yardstick(expected_step_seconds_);
  race_.restart();
  start_probe();
}

// --- exploit and watch ---

void StageMachine::exploit(Parameters system, double step_seconds) {
  stage_ = Stage::exploit;
  chosen_ = std::move(system);
  expected_step_seconds_ = step_seconds;
  departures_ = 0;
}

void StageMachine::exploited(const std::vector<double>& measured) {
  if (measured.empty()) return;
  const double step_seconds = median(measured);
  const bool correctable = std::exchange(calibrating_, false) && measured.size() >= kFewestVerificationSteps &&
                           step_seconds < kMostCorrection * expected_step_seconds_;
  if (!(expected_step_seconds_ > 0) || correctable) {
    expected_step_seconds_ = step_seconds;
  } else if (verifications_ > 0) {
    verify(step_seconds);
  } else {
    watch(step_seconds);
  }
}

void StageMachine::verify(double step_seconds) {
  if (step_seconds <= kRefutingFactor * expected_step_seconds_) {
    verifications_ = 0;
    hit_.reset();  // proven: what comes later is no fault of the advice
    expected_step_seconds_ = step_seconds;
    settle_excess();
  } else if (--verifications_ == 0) {
    expected_step_seconds_ = step_seconds;
    if (steps_left() >= kFewestStepsToReprobe && reprobes_ < limits::kMaxReprobes) probe_again();
  }
}

void StageMachine::watch(double step_seconds) {
  const bool slower = step_seconds > kDriftFactor * expected_step_seconds_;
  const bool faster = step_seconds * kDriftFactor < expected_step_seconds_;
  if (slower) departures_ = std::max(departures_, 0) + 1;
  if (faster) departures_ = std::min(departures_, 0) - 1;
  if (!slower && !faster) departures_ = 0;
  if (std::abs(departures_) < kDriftWindows) return;
  // Faster is good news, unless the choice was made for a disturbed machine: then another may be better now.
  const bool reconsider = slower || disturbed_;
  disturbed_ = slower;
  expected_step_seconds_ = step_seconds;
  departures_ = 0;
  if (reconsider && reprobes_ < limits::kMaxReprobes && steps_left() >= kFewestStepsToReprobe &&
      settings_.candidates.size() > 1 && excess_seconds() < budget_seconds()) {
    probe_again();
  }
}

void StageMachine::not_applied(const WindowRequest& request, const WindowResult& result) {
  const auto entrant = race_.find(request.system);
  if (entrant) race_.remove(*entrant, result.apply_error);
  if (std::isfinite(result.seconds) && result.seconds > 0) {
    training_seconds_ += result.seconds;
    if (stage_ != Stage::exploit) open_seconds_ += result.seconds;
  }
  if (stage_ == Stage::profile) {
    const bool default_failed = settings_.candidates.empty() || request.system == settings_.candidates.front();
    reference_ = default_failed ? Parameters{} : settings_.candidates.front();
    if (request.system.empty()) start_probe();
  } else if (stage_ == Stage::exploit && !request.system.empty()) {
    if (hit_ && request.system == hit_->best) {
      hit_.reset();
      start_probe();
    } else {
      finish_probe();
      finding_ = false;
    }
  }
}

// --- plans ---

void StageMachine::plan() {
  switch (stage_) {
    case Stage::profile:
    case Stage::match:
      plan_profile();
      break;
    case Stage::probe:
      plan_probe();
      break;
    case Stage::exploit:
      break;
  }
  if (stage_ == Stage::exploit) plan_exploit();
  request_.steps =
      static_cast<int>(std::clamp<std::int64_t>(request_.steps, 1, std::max<std::int64_t>(steps_left(), 1)));
}

int StageMachine::warmup_steps(const Parameters& system, double step_seconds) const {
  const std::int64_t wanted = step_seconds > 0 && step_seconds < kBriefStepSeconds ? 2 : 1;
  return static_cast<int>(active_ == system ? std::max<std::int64_t>(wanted - active_steps_, 0) : wanted);
}

void StageMachine::plan_profile() {
  request_ = {Stage::profile, reference_, kSettlingSteps, 1, 0};
  if (profile_seconds_.empty()) {
    request_.warmup_steps = active_steps_ > 0 ? 0 : 1;
    return;
  }
  request_.steps = steps_lasting(kProfileSeconds, median(profile_seconds_), kProfileSteps, kLongestProfileSteps);
  request_.warmup_steps = 0;
}

void StageMachine::plan_probe() {
  const auto window = race_.next(excess_seconds(), budget_seconds());
  if (!window || steps_left() == 0) return finish_probe();
  const Parameters& system = race_.entrants()[window->entrant].system;
  const double step_seconds = best_step_seconds();
  const int warmup = window->cold ? 0 : warmup_steps(system, step_seconds);
  request_ = {Stage::probe, system, window->steps, warmup, window->abort_step_seconds};
  request_.steps += request_.warmup_steps;
}

void StageMachine::plan_exploit() {
  request_ = {Stage::exploit, chosen_, 0, 0, 0};
  request_.warmup_steps = warmup_steps(chosen_, expected_step_seconds_);
  if (verifications_ > 0) {
    const int longer = verifications_ < kVerifications ? 2 : 1;
    request_.steps = longer * steps_lasting(kVerificationSeconds, expected_step_seconds_, kFewestVerificationSteps,
                                            kLongestVerificationSteps);
  } else {
    request_.steps = steps_lasting(kWatchSeconds, expected_step_seconds_, kFewestWatchSteps, kLongestWatchSteps);
  }
  request_.steps += request_.warmup_steps;
}

// --- what others ask ---

Stage StageMachine::stage() const noexcept { return stage_; }

const Parameters& StageMachine::chosen() const noexcept { return chosen_; }

double StageMachine::chosen_step_seconds() const noexcept { return best_step_seconds(); }

double StageMachine::default_step_seconds() const {
  if (!race_.entrants().empty()) {
    if (const double measured = race_.step_seconds(0); measured > 0) return measured;
  }
  return default_step_seconds_;
}

std::vector<CandidateMeasurement> StageMachine::measurements() const {
  std::vector<CandidateMeasurement> measurements;
  for (const Entrant& entrant : race_.entrants()) {
    if (entrant.step_seconds.empty() && entrant.usable()) continue;
    measurements.push_back({entrant.system, median(entrant.step_seconds), static_cast<int>(entrant.step_seconds.size()),
                            entrant.dropped, entrant.apply_error});
  }
  return measurements;
}

std::int64_t StageMachine::probe_steps() const noexcept { return probe_steps_; }

bool StageMachine::take_finding() noexcept { return std::exchange(finding_, false); }

std::optional<std::int64_t> StageMachine::take_contradiction() noexcept {
  return std::exchange(contradiction_, std::nullopt);
}

std::vector<StageRecord> StageMachine::take_records() { return std::exchange(records_, {}); }

}  // namespace tandem::tuner
