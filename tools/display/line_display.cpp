#include <fmt/format.h>

#include <map>
#include <mutex>
#include <ostream>
#include <string>

#include "tools/display/progress_display.hpp"
#include "tools/display/words.hpp"

namespace tandem::tools {
namespace {

using actors::StudySnapshot;
using actors::TrialSnapshot;
using tuner::TrialState;

bool has_ended(TrialState state) {
  return state == TrialState::completed || state == TrialState::stopped || state == TrialState::failed;
}

std::string report_line(const StudySnapshot& snapshot, const TrialSnapshot& trial, std::size_t epoch) {
  std::string line = fmt::format("trial {} epoch {}/{} {} {}", trial.id, epoch, trial.epochs, snapshot.objective,
                                 short_number(trial.objective_values[epoch - 1]));
  if (trial.step_seconds > 0) line += fmt::format(", {} a step", short_seconds(trial.step_seconds));
  if (!trial.stage.empty()) line += ", " + trial.stage;
  line += "  " + short_parameters(trial.params);
  if (!trial.system.empty()) line += "  [" + short_parameters(trial.system) + "]";
  return line;
}

class LineDisplay final : public ProgressDisplay {
 public:
  explicit LineDisplay(std::ostream& out) : out_(out) {}

  void on_snapshot(const StudySnapshot& snapshot) override {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    for (const TrialSnapshot& trial : snapshot.trials) tell_news(snapshot, trial);
    if (snapshot.notice != notice_) {
      notice_ = snapshot.notice;
      if (!notice_.empty()) write(notice_);
    }
  }

  void say(std::string_view line) override {
    const std::lock_guard lock(mutex_);
    write(line);
  }

  void close() override {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }

 private:
  /// How much of a trial has been told.
  struct Told {
    std::size_t reports = 0;
    bool end = false;
  };

  void tell_news(const StudySnapshot& snapshot, const TrialSnapshot& trial) {
    Told& told = told_[trial.id];
    while (told.reports < trial.objective_values.size()) write(report_line(snapshot, trial, ++told.reports));
    if (told.end || !has_ended(trial.state)) return;
    told.end = true;
    std::string line = fmt::format("trial {} {}", trial.id, to_string(trial.state));
    if (!trial.error.empty()) line += ": " + trial.error;
    write(line);
  }

  void write(std::string_view line) { out_ << line << std::endl; }

  std::ostream& out_;
  std::mutex mutex_;
  std::map<tuner::TrialId, Told> told_;
  std::string notice_;
  bool closed_ = false;
};

}  // namespace

std::unique_ptr<ProgressDisplay> make_line_display(std::ostream& out) { return std::make_unique<LineDisplay>(out); }

}  // namespace tandem::tools
