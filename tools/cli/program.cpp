#include "tools/cli/program.hpp"

#include <algorithm>
#include <ostream>
#include <string_view>

#include "tools/cli/command.hpp"
#include "tuner/space/value_text.hpp"

namespace tandem::tools {
namespace {

// A new command is one line here and one file.
void add_commands(CommandLine& line) {
  add_tune(line);
  add_trials(line);
  add_best(line);
  add_export(line);
  add_asktell(line);
  add_doctor(line);
  add_data(line);
  add_init(line);
  add_version(line);
}

/// "tandem data" of "tandem data get".
std::string words_before(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  if (parent == nullptr || parent->get_parent() == nullptr) return "tandem";
  return words_before(*parent) + " " + parent->get_name();
}

const CLI::App& called_command(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

std::vector<std::string> known_words(const CLI::App& command, bool options) {
  std::vector<std::string> words;
  if (options) {
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    }
  } else {
    for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) {
      words.push_back(sub->get_name());
    }
  }
  return words;
}

/// What CLI11 only calls "not expected", told with the nearest word that would have been.
std::string explain_leftover(const CLI::App& command, const std::string& word) {
  const bool option = word.starts_with("-");
  const std::vector<std::string> known = known_words(command, option);
  const std::string_view kind = option ? "option" : known.empty() ? "argument" : "command";
  std::string text = fmt::format("unknown {} '{}'", kind, word);
  const std::string_view nearest = tuner::nearest_name(word, std::vector<std::string_view>(known.begin(), known.end()));
  if (!nearest.empty()) return text + fmt::format("; did you mean '{}'?", nearest);
  if (!option && !known.empty()) text += fmt::format("; allowed: {}", fmt::join(known, ", "));
  return text;
}

int explain_bad_usage(const CLI::App& app, const CLI::ParseError& error, Surroundings& surroundings) {
  const CLI::App& command = called_command(app);
  const std::vector<std::string> leftover = command.remaining();
  const std::string name = &command == &app ? "tandem" : command.get_display_name();
  const std::string prefix = &command == &app ? "tandem" : "tandem " + name;
  surroundings.err << prefix << ": "
                   << (leftover.empty() ? std::string(error.what()) : explain_leftover(command, leftover.front()))
                   << "\nSee " << prefix << " --help\n";
  return static_cast<int>(ExitCode::bad_usage);
}

}  // namespace

int run_program(const std::vector<std::string>& arguments, Surroundings& surroundings) {
  CLI::App app("Tandem tunes what you train and how it runs, in tandem, while it runs.", "tandem");
  app.require_subcommand(1);
  app.footer("Exit codes: 0 done, 1 failed, 2 bad usage or file, 3 infeasible or nothing found");
  CommonOptions common;
  CommandLine line{app, common, {}};
  add_commands(line);

  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    if (reversed == std::vector<std::string>{"--version"}) reversed = {"version"};
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    const CLI::App& command = called_command(app);
    surroundings.out << (&command == &app ? app.help() : command.help(words_before(command)));
    return static_cast<int>(ExitCode::done);
  } catch (const CLI::ParseError& error) {
    return explain_bad_usage(app, error, surroundings);
  }

  const Result<ExitCode> ended = line.action(surroundings, common);
  surroundings.out.flush();
  if (!ended) {
    surroundings.err << "tandem: " << ended.error().message() << "\n";
    return static_cast<int>(exit_code_of(ended.error().code()));
  }
  if (!surroundings.out) {
    surroundings.err << "tandem: the answer could not be written to standard output\n";
    return static_cast<int>(ExitCode::failed);
  }
  return static_cast<int>(*ended);
}

}  // namespace tandem::tools
