/// Training seconds of one study under each way to set system parameters, all with the same trials and epochs, run
/// alternately: `pipeline` against (a) the framework's untouched defaults, (b) defaults sized by the lease, pinned,
/// with passive threads, (c) the best single static configuration, found by exhaustion; (a) to (c) with and without
/// retained memory. Trials run one at a time. Output: a line of JSON for each comparison, and a table on stderr.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "benchmarks/pipetune/exhaustion.hpp"
#include "benchmarks/pipetune/tandem_run.hpp"
#include "runtime/base/file_system.hpp"
#include "tuner/space/value_text.hpp"

namespace {

using namespace tandem;
using benchmarks::StudyRun;
using Overrides = std::vector<std::string>;

struct Arm {
  std::string name;
  Overrides overrides;
  bool keeps_ground_truth = false;  ///< runs in the state directory of the arm before it
};

struct Options {
  std::string tandem = TANDEM_BINARY_DIR "/bin/tandem";
  std::string epoch_program = TANDEM_BINARY_DIR "/bin/bench_lenet_epoch";
  std::string study = TANDEM_SOURCE_DIR "/benchmarks/studies/lenet5-mnist.toml";
  std::string data;
  int cores = 2;
  int epochs = 3;
  int trials = 9;
  int rounds = 1;
  std::int64_t samples = 8'192;
};

Overrides static_overrides(const tuner::Parameters& system) {
  Overrides overrides{"system.mode=fixed"};
  for (const auto& [name, value] : system) {
    overrides.push_back("system." + name + "=[" + tuner::to_text(value) + "]");
  }
  return overrides;
}

std::string describe(const tuner::Parameters& system) {
  std::string text;
  for (const auto& [name, value] : system) text += (text.empty() ? "" : " ") + name + "=" + tuner::to_text(value);
  return text;
}

class Comparison {
 public:
  explicit Comparison(Options options) : options_(std::move(options)) {
    scratch_ = files_.temporary_name("/tmp/tandem-modes");
  }
  ~Comparison() {
    std::error_code ignored;
    std::filesystem::remove_all(scratch_, ignored);
  }
  Comparison(const Comparison&) = delete;
  Comparison& operator=(const Comparison&) = delete;

  Result<> run() {
    std::vector<Arm> arms{
        {"pipeline, first job", {"system.mode=pipeline"}},
        {"pipeline, recurring job", {"system.mode=pipeline"}, true},
        {"framework", {"system.mode=fixed", "system.defaults=framework", "system.allocator=[\"default\"]"}},
        {"framework, retained", {"system.mode=fixed", "system.defaults=framework", "system.allocator=[\"retain\"]"}},
        {"lease", {"system.mode=fixed", "system.allocator=[\"default\"]"}},
        {"lease, retained", {"system.mode=fixed", "system.allocator=[\"retain\"]"}}};
    for (int round = 0; round < options_.rounds; ++round) {
      for (std::size_t i = 0; i < arms.size(); ++i) {
        if (auto ran = run_arm(arms[i]); !ran) return ran;
        if (round == 0 && i == 0) {
          if (auto found = add_static_arms(arms); !found) return found;
        }
      }
    }
    print(arms);
    return {};
  }

 private:
  Result<> run_arm(const Arm& arm) {
    if (!arm.keeps_ground_truth) ++state_;
    benchmarks::RunSettings settings{options_.tandem, options_.study, options_.data,
                                     scratch_ + "/" + std::to_string(state_), arm.overrides};
    settings.overrides.emplace_back("schedule.algorithm=none");
    settings.overrides.emplace_back("study.max_parallel=1");
    settings.overrides.push_back("study.max_trials=" + std::to_string(options_.trials));
    settings.overrides.push_back("trial.epochs=" + std::to_string(options_.epochs));
    auto run = benchmarks::run_study(settings);
    if (!run) return forward_error(run, arm.name);
    std::fprintf(stderr, "%-26s %8.1f s, accuracy %.4f, excess %.1f %%\n", arm.name.c_str(), run->training_seconds,
                 run->accuracy, 100 * run->excess_share);
    runs_[arm.name].push_back(std::move(*run));
    return {};
  }

  Result<> add_static_arms(std::vector<Arm>& arms) {
    const auto ranked = benchmarks::exhaust({options_.epoch_program, options_.data, options_.cores, options_.samples,
                                             runs_.begin()->second.front().batch_sizes});
    if (!ranked) return forward_error(ranked, "exhaustion");
    for (const auto& one : *ranked) {
      std::fprintf(stderr, "  static %8.1f s an epoch of all trials: %s\n", one.epoch_seconds,
                   describe(one.system).c_str());
    }
    for (const bool retained : {false, true}) {
      const auto best = std::find_if(ranked->begin(), ranked->end(), [retained](const auto& one) {
        return (one.system.at("allocator") == tuner::Value(std::string("retain"))) == retained;
      });
      if (best == ranked->end()) return fail(ErrorCode::internal, "no static configuration");
      arms.push_back({retained ? "best static, retained" : "best static", static_overrides(best->system)});
    }
    return {};
  }

  [[nodiscard]] double median_seconds(const std::string& arm) const {
    std::vector<double> seconds;
    for (const StudyRun& run : runs_.at(arm)) seconds.push_back(run.training_seconds);
    std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
    return seconds[seconds.size() / 2];
  }

  void print(const std::vector<Arm>& arms) const {
    const double ours = median_seconds(arms.front().name);
    std::fprintf(stderr, "\n%-26s %10s %8s %9s %9s %8s\n", "", "training s", "ratio", "accuracy", "test", "excess");
    for (const Arm& arm : arms) {
      const double theirs = median_seconds(arm.name);
      const StudyRun& last = runs_.at(arm.name).back();
      std::fprintf(stderr, "%-26s %10.1f %8.2f %9.4f %9.4f %7.1f%%\n", arm.name.c_str(), theirs, theirs / ours,
                   last.accuracy, last.test_accuracy, 100 * last.excess_share);
      const nlohmann::json line{{"suite", "pipetune"},
                                {"case", "modes"},
                                {"metric", "training_seconds"},
                                {"value", ours},
                                {"unit", "s"},
                                {"baseline", {{"name", arm.name}, {"value", theirs}}},
                                {"ratio", theirs / ours},
                                {"runs", options_.rounds},
                                {"accuracy", last.accuracy},
                                {"test_accuracy", last.test_accuracy},
                                {"excess_share", last.excess_share},
                                {"hits", last.hits},
                                {"misses", last.misses}};
      std::printf("%s\n", line.dump().c_str());
    }
  }

  const Options options_;
  PosixFileSystem files_;
  std::string scratch_;
  int state_ = 0;
  std::map<std::string, std::vector<StudyRun>> runs_;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Compares the ways to set system parameters on one study"};
  app.add_option("--data", options.data, "directory that holds mnist/")->required();
  app.add_option("--study", options.study);
  app.add_option("--tandem", options.tandem, "the program");
  app.add_option("--epoch-program", options.epoch_program, "bench_lenet_epoch");
  app.add_option("--epochs", options.epochs)->check(CLI::Range(1, 1'000));
  app.add_option("--trials", options.trials)->check(CLI::Range(1, 1'000));
  app.add_option("--rounds", options.rounds)->check(CLI::Range(1, 100));
  app.add_option("--cores", options.cores, "of the machine, for the exhaustion")->check(CLI::Range(1, 1'024));
  app.add_option("--samples", options.samples, "measured of each configuration and batch size");
  CLI11_PARSE(app, argc, argv);
  if (auto ran = Comparison(options).run(); !ran) {
    std::fprintf(stderr, "bench_modes: %s\n", ran.error().message().c_str());
    return 1;
  }
  return 0;
}
