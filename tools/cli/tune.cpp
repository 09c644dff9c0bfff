// tandem tune STUDY.toml
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <memory>
#include <ostream>
#include <stop_token>
#include <thread>
#include <vector>

#include "actors/study/local_cluster.hpp"
#include "actors/workloads/data_paths.hpp"
#include "actors/workloads/dataset_catalog.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/documents.hpp"
#include "tools/cli/interrupt_watch.hpp"
#include "tools/cli/json_output.hpp"
#include "tools/cli/study_check.hpp"
#include "tools/cli/study_options.hpp"
#include "tools/display/final_report.hpp"
#include "tools/display/progress_display.hpp"
#include "tools/display/terminal.hpp"
#include "tools/limits.hpp"

namespace tandem::tools {
namespace {

constexpr std::string_view kTrialHost = "tandem-trial-host";

bool shows_utf8(const Surroundings& surroundings) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = surroundings.variable(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

std::unique_ptr<ProgressDisplay> choose_display(const Surroundings& surroundings, const CommonOptions& common) {
  if (common.quiet) return make_silent_display();
  if (!surroundings.err_is_terminal || surroundings.variable("TERM") == "dumb") {
    return make_background_display(make_line_display(surroundings.err));
  }
  return make_background_display(make_live_display(
      surroundings.err, [utf8 = shows_utf8(surroundings)] { return terminal_size(STDERR_FILENO, utf8); }));
}

Result<actors::TuneOptions> tune_options(const Surroundings& surroundings, const CommonOptions& common,
                                         const StudyOptions& options) {
  auto spec = read_study(surroundings, options, tuner::StudyUse::tune);
  if (!spec) return forward_error(spec);
  if (const auto checked = check_study(*spec); !checked) return forward_error(checked, options.file);
  const auto state = state_directory_of(surroundings, common);
  if (!state) return forward_error(state);
  const auto data = data_directory_of(surroundings);
  if (!data) return forward_error(data);

  if (const auto place = actors::locate(spec->trial.dataset, actors::default_data_paths(*data, {}), surroundings.files);
      !place) {
    return forward_error(place);
  }
  const std::string& program = surroundings.program_path;
  std::string host = program.substr(0, program.rfind('/') + 1) + std::string(kTrialHost);
  if (!surroundings.files.exists(host)) {
    return fail(ErrorCode::unavailable, "{} is missing: this build has no LibTorch workloads (TANDEM_WITH_TORCH)",
                host);
  }
  actors::TuneOptions tune;
  tune.seed = choose_seed(options, *spec);
  tune.spec = std::move(*spec);
  tune.resume = options.resume;
  tune.fresh = options.fresh;
  tune.state_directory = *state;
  tune.data_directory = *data;
  tune.trial_host_program = std::move(host);
  return tune;
}

Result<actors::TuneOutcome> run_watched(actors::TuneOptions tune, ProgressDisplay& display) {
  std::stop_source stop;
  const InterruptWatch watch(
      [&] {
        // Not said from here: a terminal that does not read must not hold up the second interrupt.
        stop.request_stop();
      },
      [&] {
        // Everything told so far is durable; trial hosts die with this process. The display is tidied up if the
        // terminal takes it.
        std::promise<void> tidied;
        std::thread([&] {
          display.close();
          tidied.set_value();
        }).detach();
        (void)tidied.get_future().wait_for(limits::kTidyDeadline);
        std::_Exit(static_cast<int>(ExitCode::failed));
      });
  tune.log = Logger::to_function(
      "tune",
      [&display](LogLevel level, std::string_view component, std::string_view message) {
        display.say(fmt::format("{} {}: {}", to_string(level), component, message));
      },
      LogLevel::warning);
  auto outcome = actors::run_study_locally(std::move(tune), &display, stop.get_token());
  display.close();
  return outcome;
}

ExitCode exit_code_of(const actors::TuneOutcome& outcome) {
  if (outcome.state == "failed") return ExitCode::failed;
  if (outcome.state == "finished" && !outcome.study.best()) return ExitCode::infeasible;
  return ExitCode::done;
}

/// From the request for a host until steps ran at their own speed. The first trial waits for the template to be made;
/// later ones take a warm host.
nlohmann::json start_document(std::vector<double> seconds) {
  const double first = seconds.front();
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return {{"first", first}, {"median", *middle}};
}

Result<ExitCode> tune(Surroundings& surroundings, const CommonOptions& common, const StudyOptions& options) {
  auto prepared = tune_options(surroundings, common, options);
  if (!prepared) return forward_error(prepared);
  const auto display = choose_display(surroundings, common);
  const auto outcome = run_watched(std::move(*prepared), *display);
  if (!outcome) return forward_error(outcome);
  if (common.json) {
    auto document = study_document(outcome->study, outcome->energy_source);
    document["state"] = outcome->state;
    if (!outcome->start_seconds.empty()) document["start_seconds"] = start_document(outcome->start_seconds);
    write_json(surroundings.out, document);
  } else {
    surroundings.out << final_report(outcome->study, outcome->state);
  }
  return exit_code_of(*outcome);
}

}  // namespace

void add_tune(CommandLine& line) {
  const auto options = std::make_shared<StudyOptions>();
  auto run = [options](Surroundings& surroundings, const CommonOptions& common) {
    return tune(surroundings, common, *options);
  };
  CLI::App* command = add_command(line, "tune", "Run a study to its end: tune hyperparameters and system parameters",
                                  "tandem tune benchmarks/studies/digits-mlp.toml --set study.max_trials=20", run);
  add_study_options(*command, *options);
}

}  // namespace tandem::tools
