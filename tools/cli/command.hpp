/// A command of the program: how it joins the command line, and what all of them share.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "tools/cli/exit_code.hpp"
#include "tools/cli/surroundings.hpp"

namespace tandem::tools {

/// Options every command takes.
struct CommonOptions {
  std::string state_directory;  ///< --state; empty: see `state_directory_of`
  bool json = false;
  bool quiet = false;
};

/// What a command does once the command line is understood. Errors are shown and become the exit code.
using Action = std::function<Result<ExitCode>(Surroundings&, const CommonOptions&)>;

/// Commands join here; the one that is called leaves its action.
struct CommandLine {
  CLI::App& app;
  CommonOptions& common;
  Action action;
};

/// Adds a command with its example under --help; `action` is taken when it is called.
CLI::App* add_command(CommandLine& line, const std::string& name, const std::string& summary,
                      const std::string& example, Action action);
/// The same below another command: `tandem data list`.
CLI::App* add_command(CommandLine& line, CLI::App& parent, const std::string& name, const std::string& summary,
                      const std::string& example, Action action);

/// --state, else $TANDEM_STATE, else $XDG_STATE_HOME/tandem, else ~/.local/state/tandem.
[[nodiscard]] Result<std::string> state_directory_of(const Surroundings& surroundings, const CommonOptions& common);

/// Where downloaded data sets lie: $TANDEM_DATA, else $XDG_DATA_HOME/tandem, else ~/.local/share/tandem.
[[nodiscard]] Result<std::string> data_directory_of(const Surroundings& surroundings);

// One file each.
void add_tune(CommandLine& line);
void add_trials(CommandLine& line);
void add_best(CommandLine& line);
void add_export(CommandLine& line);
void add_asktell(CommandLine& line);
void add_doctor(CommandLine& line);
void add_data(CommandLine& line);
void add_init(CommandLine& line);
void add_version(CommandLine& line);

}  // namespace tandem::tools
