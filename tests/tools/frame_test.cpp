#include "tools/display/frame.hpp"

#include <doctest/doctest.h>

#include "tools/display/text_width.hpp"

namespace tandem::tools {
namespace {

actors::StudySnapshot snapshot_of(int trials) {
  actors::StudySnapshot snapshot;
  snapshot.study = "digits";
  snapshot.objective = "accuracy";
  snapshot.elapsed_seconds = 12;
  snapshot.eta_seconds = 30;
  snapshot.max_trials = trials;
  for (int i = 0; i < trials; ++i) {
    actors::TrialSnapshot trial;
    trial.id = i;
    trial.epochs = 9;
    trial.epoch = 3;
    trial.objective_values = {0.1, 0.5, 0.9};
    trial.state = i < 2 ? tuner::TrialState::running : tuner::TrialState::completed;
    if (i < 2) trial.stage = "probe";
    trial.step_seconds = 0.012;
    trial.params = {{"batch_size", std::int64_t{64}}};
    snapshot.trials.push_back(trial);
  }
  snapshot.running = 2;
  snapshot.completed = trials - 2;
  snapshot.best = tuner::BestTrial{1, 3, {{"accuracy", 0.9}}};
  return snapshot;
}

TEST_CASE("a frame shows time left, counts, each running trial with its stage, and the best so far") {
  const auto lines = render_frame(snapshot_of(4), {120, 24, true});
  REQUIRE(lines.size() == 7);
  CHECK(lines[0].find("about 30 s left") != std::string::npos);
  CHECK(lines[1].find("2 running, 2 completed") != std::string::npos);
  CHECK(lines[2].find("3/9") != std::string::npos);
  CHECK(lines[2].find("probe") != std::string::npos);
  CHECK(lines[2].find("▁▅█") != std::string::npos);
  CHECK(lines[2].find("12 ms") != std::string::npos);
  CHECK(lines[2].find("batch_size=64") != std::string::npos);
  CHECK(lines[6].find("best: accuracy 0.9 in trial 1") == 0);
}

TEST_CASE("a frame fits every terminal, and running trials have the first claim to its lines") {
  for (const int rows : {0, 1, 2, 3, 5, 10, 50}) {
    for (const int columns : {1, 10, 40, 200}) {
      const auto lines = render_frame(snapshot_of(30), {columns, rows, true});
      CHECK(static_cast<int>(lines.size()) <= rows);
      for (const auto& line : lines) CHECK(text_width(line) <= columns);
    }
  }
  const auto lines = render_frame(snapshot_of(30), {120, 6, true});
  CHECK(lines[2].find("probe") != std::string::npos);
  CHECK(lines[3].find("probe") != std::string::npos);
  CHECK(lines[4].find("  29 ") == 0);
}

TEST_CASE("without UTF-8 a frame is plain ASCII") {
  for (const auto& line : render_frame(snapshot_of(4), {60, 24, false})) {
    for (const char letter : line) CHECK(static_cast<unsigned char>(letter) < 0x80);
  }
}

TEST_CASE("an empty study has a frame") {
  const auto lines = render_frame({}, {80, 24, true});
  CHECK(lines.back() == "best: none yet");
}

}  // namespace
}  // namespace tandem::tools
