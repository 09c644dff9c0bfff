#include "tools/display/progress_display.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <future>
#include <sstream>

#include "tools/limits.hpp"

namespace tandem::tools {
namespace {

actors::StudySnapshot one_trial(std::vector<double> values, tuner::TrialState state) {
  actors::StudySnapshot snapshot;
  snapshot.study = "s";
  snapshot.objective = "accuracy";
  actors::TrialSnapshot trial;
  trial.epochs = 3;
  trial.epoch = static_cast<int>(values.size());
  trial.state = state;
  trial.objective_values = std::move(values);
  snapshot.trials.push_back(trial);
  return snapshot;
}

TEST_CASE("the line display tells each report and each end once") {
  std::ostringstream out;
  const auto display = make_line_display(out);
  display->on_snapshot(one_trial({}, tuner::TrialState::running));
  CHECK(out.str().empty());
  display->on_snapshot(one_trial({0.5}, tuner::TrialState::running));
  display->on_snapshot(one_trial({0.5}, tuner::TrialState::running));
  CHECK(out.str() == "trial 0 epoch 1/3 accuracy 0.5  \n");
  auto last = one_trial({0.5, 0.6, 0.7}, tuner::TrialState::failed);
  last.trials[0].error = "failed: no memory";
  display->on_snapshot(last);
  display->on_snapshot(last);
  const std::string text = out.str();
  CHECK(std::count(text.begin(), text.end(), '\n') == 4);
  CHECK(text.find("trial 0 epoch 2/3 accuracy 0.6") != std::string::npos);
  CHECK(text.ends_with("trial 0 failed: failed: no memory\n"));
}

TEST_CASE("the live display hides the cursor, redraws in place, and gives the cursor back once") {
  std::ostringstream out;
  {
    const auto display = make_live_display(out, [] { return FrameSize{80, 24, true}; });
    display->on_snapshot(one_trial({0.5}, tuner::TrialState::running));
    CHECK(out.str().starts_with("\x1b[?25l"));
    CHECK(out.str().find("\x1b[4A") == std::string::npos);
    display->on_snapshot(one_trial({0.6}, tuner::TrialState::running));
    CHECK(out.str().find("\x1b[4A\r") != std::string::npos);
    display->close();
    display->close();
  }
  const std::string text = out.str();
  CHECK(text.ends_with("\x1b[?25h"));
  CHECK(text.find("\x1b[?25h") == text.rfind("\x1b[?25h"));
}

TEST_CASE("a closed live display draws no more, and one that never drew changes nothing") {
  std::ostringstream out;
  make_live_display(out, [] { return FrameSize{}; })->close();
  CHECK(out.str().empty());
  const auto display = make_live_display(out, [] { return FrameSize{}; });
  display->close();
  display->on_snapshot(one_trial({0.5}, tuner::TrialState::running));
  CHECK(out.str().empty());
}

TEST_CASE("what is said stands above the live picture, which is drawn again") {
  std::ostringstream out;
  const auto display = make_live_display(out, [] { return FrameSize{80, 24, true}; });
  display->on_snapshot(one_trial({0.5}, tuner::TrialState::running));
  const std::size_t before = out.str().size();
  display->say("warning: slow");
  const std::string added = out.str().substr(before);
  CHECK(added.starts_with("\x1b[4A\rwarning: slow"));
  CHECK(added.find("best:") > added.find("slow"));
}

TEST_CASE("the silent display says nothing") {
  const auto display = make_silent_display();
  display->on_snapshot(one_trial({0.5}, tuner::TrialState::completed));
  display->say("x");
  display->close();
}

/// Holds up whoever shows something until it is let go.
class StuckDisplay final : public ProgressDisplay {
 public:
  explicit StuckDisplay(std::shared_future<void> go, std::vector<std::string>& said)
      : go_(std::move(go)), said_(said) {}
  void on_snapshot(const actors::StudySnapshot& snapshot) override { say(snapshot.study); }
  void say(std::string_view line) override {
    go_.wait();
    said_.emplace_back(line);
  }
  void close() override { said_.emplace_back("closed"); }

 private:
  std::shared_future<void> go_;
  std::vector<std::string>& said_;
};

TEST_CASE("a terminal that does not read holds nobody up; the last of what was told is shown once it reads") {
  std::promise<void> go;
  std::vector<std::string> said;
  const auto display = make_background_display(std::make_unique<StuckDisplay>(go.get_future().share(), said));
  for (int i = 0; i < 1000; ++i) display->say(std::to_string(i));
  display->on_snapshot(one_trial({0.5}, tuner::TrialState::running));
  go.set_value();
  display->close();
  REQUIRE(said.size() >= 2);
  CHECK(said.size() <= limits::kDisplayQueue + 2);
  CHECK(said[said.size() - 2] == "s");
  CHECK(said.back() == "closed");
  display->say("late");
  CHECK(said.back() == "closed");
}

}  // namespace
}  // namespace tandem::tools
