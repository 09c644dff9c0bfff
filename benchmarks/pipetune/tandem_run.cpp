#include "benchmarks/pipetune/tandem_run.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "runtime/base/file_system.hpp"
#include "runtime/base/process_launcher.hpp"

namespace tandem::benchmarks {

namespace {

/// A number that JSON may lack, or have as "nan".
double number(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

std::vector<std::int64_t> batch_sizes(const std::string& lines) {
  std::vector<std::int64_t> sizes;
  std::istringstream text(lines);
  for (std::string line; std::getline(text, line);) {
    const auto trial = nlohmann::json::parse(line, nullptr, false);
    if (!trial.is_object()) continue;
    const auto params = trial.value("params", nlohmann::json::object());
    if (params.contains("batch_size")) sizes.push_back(params["batch_size"].get<std::int64_t>());
  }
  return sizes;
}

}  // namespace

Result<std::string> output_of(const std::vector<std::string>& argv, const std::vector<std::string>& environment) {
  PosixFileSystem files;
  PosixProcessLauncher launcher;
  const std::string path = files.temporary_name("/tmp/tandem-bench");
  const int out = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (out < 0) return fail(ErrorCode::unavailable, "{}: cannot be written", path);
  ProcessSpec spec;
  spec.argv = argv;
  for (const std::string& setting : environment) {
    const auto equals = setting.find('=');
    spec.environment[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  spec.standard_output = StreamSource::from(out);
  auto process = launcher.spawn(spec);
  ::close(out);
  Result<ExitStatus> status = process ? (*process)->wait() : Result<ExitStatus>(forward_error(process));
  auto text = files.read_file(path);
  (void)files.remove(path);
  if (!status) return forward_error(status, argv.front());
  if (!status->success()) return fail(ErrorCode::internal, "{} {}", argv.front(), status->describe());
  return text;
}

Result<StudyRun> run_study(const RunSettings& settings) {
  std::vector<std::string> argv{settings.tandem, "tune",    settings.study, "--fresh",
                                "--json",        "--quiet", "--state",      settings.state};
  for (const std::string& override_text : settings.overrides) {
    argv.emplace_back("--set");
    argv.push_back(override_text);
  }
  std::vector<std::string> environment;
  if (!settings.data.empty()) environment.push_back("TANDEM_DATA=" + settings.data);
  auto text = output_of(argv, environment);
  if (!text) return forward_error(text);
  const auto document = nlohmann::json::parse(*text, nullptr, false);
  if (!document.is_object() || document.value("state", "") != "finished" || !document["best"].is_object()) {
    return fail(ErrorCode::internal, "the study did not finish: {}", *text);
  }
  StudyRun run;
  run.training_seconds = number(document, "total_training_seconds");
  run.tuning_seconds = number(document, "tuning_seconds");
  const auto& best = document["best"];
  run.accuracy = number(best.value("objectives", nlohmann::json::object()), "accuracy");
  run.test_accuracy = number(best.value("test", nlohmann::json::object()), "test_accuracy");
  const auto probe = document.value("probe", nlohmann::json::object());
  run.excess_share = number(probe, "excess_share");
  run.hits = static_cast<std::int64_t>(number(probe, "hits"));
  run.misses = static_cast<std::int64_t>(number(probe, "misses"));
  auto trials = output_of({settings.tandem, "trials", settings.study, "--json", "--state", settings.state}, {});
  if (!trials) return forward_error(trials);
  run.batch_sizes = batch_sizes(*trials);
  return run;
}

}  // namespace tandem::benchmarks
