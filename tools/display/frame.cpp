#include "tools/display/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/display/sparkline.hpp"
#include "tools/display/text_width.hpp"
#include "tools/display/words.hpp"

namespace tandem::tools {
namespace {

using actors::StudySnapshot;
using actors::TrialSnapshot;

constexpr int kBarColumns = 12;
constexpr int kCurveColumns = 12;
/// On a narrower terminal the curve is left out and the bar is short, so that the value is seen.
constexpr int kWideColumns = 60;
constexpr int kNarrowBarColumns = 4;

std::string head_line(const StudySnapshot& snapshot) {
  std::string line = fmt::format("{}  {}", snapshot.study, short_seconds(snapshot.elapsed_seconds));
  if (snapshot.eta_seconds >= 0) line += fmt::format(", about {} left", short_seconds(std::ceil(snapshot.eta_seconds)));
  return line;
}

std::string count_line(const StudySnapshot& snapshot) {
  std::string line =
      fmt::format("{} of {} trials: {} running", snapshot.trials.size(), snapshot.max_trials, snapshot.running);
  const auto add = [&line](int count, const char* what) {
    if (count > 0) line += fmt::format(", {} {}", count, what);
  };
  add(snapshot.waiting, "waiting");
  add(snapshot.paused, "paused");
  add(snapshot.completed, "completed");
  add(snapshot.stopped, "stopped");
  add(snapshot.failed, "failed");
  if (!snapshot.notice.empty()) line += "; " + snapshot.notice;
  return line;
}

std::string trial_line(const TrialSnapshot& trial, const FrameSize& size) {
  const double epochs = std::max(trial.epochs, 1);
  const double progress = (trial.epoch + std::clamp(trial.epoch_progress, 0.0, 1.0)) / epochs;
  const bool running = trial.state == tuner::TrialState::running;
  const std::string doing = running && !trial.stage.empty() ? trial.stage : std::string(to_string(trial.state));
  const bool wide = size.columns >= kWideColumns;
  const std::string bar = progress_bar(progress, wide ? kBarColumns : kNarrowBarColumns, size.utf8);
  std::string line =
      fmt::format("{:>4} {} {:>3}/{:<3} {} ", trial.id, bar, trial.epoch, trial.epochs, pad_text(doing, 9));
  line += pad_text(trial.objective_values.empty() ? "" : short_number(trial.objective_values.back()), 7) + " ";
  if (wide) line += pad_text(sparkline(trial.objective_values, kCurveColumns, size.utf8), kCurveColumns) + " ";
  if (!trial.error.empty()) return line + first_line(trial.error);
  if (running && trial.step_seconds > 0) line += pad_text(short_seconds(trial.step_seconds), 8) + " ";
  line += short_parameters(trial.params);
  if (!trial.system.empty()) line += "  [" + short_parameters(trial.system) + "]";
  return line;
}

/// Running ones by id, then the latest others: as many as `room`.
std::vector<const TrialSnapshot*> trials_to_show(const StudySnapshot& snapshot, std::size_t room) {
  std::vector<const TrialSnapshot*> shown;
  for (const auto& trial : snapshot.trials) {
    if (shown.size() < room && trial.state == tuner::TrialState::running) shown.push_back(&trial);
  }
  for (auto trial = snapshot.trials.rbegin(); trial != snapshot.trials.rend() && shown.size() < room; ++trial) {
    if (trial->state != tuner::TrialState::running) shown.push_back(&*trial);
  }
  return shown;
}

}  // namespace

std::string describe_best_so_far(const StudySnapshot& snapshot) {
  if (!snapshot.best) return {};
  const auto value = snapshot.best->values.find(snapshot.objective);
  if (value == snapshot.best->values.end()) return {};
  std::string text = fmt::format("{} {} in trial {}, epoch {}", snapshot.objective, short_number(value->second),
                                 snapshot.best->trial, snapshot.best->step);
  for (const auto& trial : snapshot.trials) {
    if (trial.id == snapshot.best->trial) text += ": " + short_parameters(trial.params);
  }
  return text;
}

std::vector<std::string> render_frame(const StudySnapshot& snapshot, const FrameSize& size) {
  constexpr int kFixedLines = 3;
  constexpr std::size_t kMostTrials = 12;
  std::vector<std::string> lines = {head_line(snapshot), count_line(snapshot)};
  const std::size_t room = std::min(kMostTrials, static_cast<std::size_t>(std::max(size.rows - kFixedLines, 0)));
  for (const TrialSnapshot* trial : trials_to_show(snapshot, room)) lines.push_back(trial_line(*trial, size));
  const std::string best = describe_best_so_far(snapshot);
  lines.push_back("best: " + (best.empty() ? "none yet" : best));
  if (static_cast<int>(lines.size()) > size.rows) lines.resize(static_cast<std::size_t>(std::max(size.rows, 0)));
  for (auto& line : lines) line = fit_text(line, size.columns, size.utf8);
  return lines;
}

}  // namespace tandem::tools
