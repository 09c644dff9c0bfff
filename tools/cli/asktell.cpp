// tandem asktell STUDY.toml
#include <memory>
#include <ostream>

#include "tools/cli/asktell_service.hpp"
#include "tools/cli/bounded_line.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/json_output.hpp"
#include "tools/cli/study_options.hpp"
#include "tools/cli/study_start.hpp"
#include "tools/limits.hpp"

namespace tandem::tools {
namespace {

/// Answers every line until the client closes its end.
Result<> serve(AskTellService& service, Surroundings& surroundings) {
  std::string line;
  for (;;) {
    const LineRead read = read_line(surroundings.in, line, limits::kAskTellLineBytes);
    if (read == LineRead::end) return {};
    nlohmann::json answer;
    if (read == LineRead::too_long) {
      answer["error"] = fmt::format("a line may hold {} bytes at most", limits::kAskTellLineBytes);
    } else {
      auto answered = service.answer(line);
      if (!answered) return forward_error(answered);
      answer = std::move(*answered);
    }
    write_json(surroundings.out, answer);
    if (!surroundings.out.flush()) return fail(ErrorCode::unavailable, "the client closed standard output");
  }
}

Result<ExitCode> asktell(Surroundings& surroundings, const CommonOptions& common, const StudyOptions& options) {
  auto spec = read_study(surroundings, options, tuner::StudyUse::asktell);
  if (!spec) return forward_error(spec);
  const auto state = state_directory_of(surroundings, common);
  if (!state) return forward_error(state);
  const auto store = tuner::open_sqlite_store(*state);
  if (!store) return forward_error(store);
  auto started = start_study(**store, std::move(*spec), options, surroundings.clock);
  if (!started) return forward_error(started);
  if (started->file_changed && !common.quiet) {
    surroundings.err << "asktell: " << options.file
                     << " has changed since the study began; it goes on as it was. --fresh starts anew\n";
  }
  AskTellService service(started->study, **store, surroundings.clock);
  if (const auto adopted = service.adopt_open_trials(); !adopted) return forward_error(adopted);
  const auto served = serve(service, surroundings);
  const auto closed = service.close();
  (*store)->release(started->study.spec().name);
  if (!served) return forward_error(served);
  if (!closed) return forward_error(closed);
  return ExitCode::done;
}

}  // namespace

void add_asktell(CommandLine& line) {
  const auto options = std::make_shared<StudyOptions>();
  auto run = [options](Surroundings& surroundings, const CommonOptions& common) {
    return asktell(surroundings, common, *options);
  };
  CLI::App* command = add_command(line, "asktell", "Serve a study on stdin and stdout, one JSON object a line",
                                  "echo '{\"ask\":1}' | tandem asktell study.toml", run);
  add_study_options(*command, *options);
}

}  // namespace tandem::tools
