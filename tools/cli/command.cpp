#include "tools/cli/command.hpp"

namespace tandem::tools {
namespace {

Result<std::string> user_directory(const Surroundings& surroundings, const char* xdg_name, const char* below_home) {
  const std::string xdg = surroundings.variable(xdg_name);
  if (!xdg.empty()) return xdg + "/tandem";
  const std::string home = surroundings.variable("HOME");
  if (home.empty()) return fail(ErrorCode::invalid_argument, "neither {} nor HOME is set", xdg_name);
  return home + "/" + below_home + "/tandem";
}

}  // namespace

CLI::App* add_command(CommandLine& line, const std::string& name, const std::string& summary,
                      const std::string& example, Action action) {
  return add_command(line, line.app, name, summary, example, std::move(action));
}

CLI::App* add_command(CommandLine& line, CLI::App& parent, const std::string& name, const std::string& summary,
                      const std::string& example, Action action) {
  CLI::App* command = parent.add_subcommand(name, summary);
  command->footer("Example:\n  " + example);
  command->callback([&line, action = std::move(action)] { line.action = action; });
  command
      ->add_option("--state", line.common.state_directory,
                   "Where studies are kept [$TANDEM_STATE or ~/.local/state/tandem]")
      ->type_name("DIR");
  command->add_flag("--json", line.common.json, "Answer in JSON on stdout");
  command->add_flag("--quiet", line.common.quiet, "No progress display and no log");
  return command;
}

Result<std::string> state_directory_of(const Surroundings& surroundings, const CommonOptions& common) {
  if (!common.state_directory.empty()) return common.state_directory;
  const std::string named = surroundings.variable("TANDEM_STATE");
  if (!named.empty()) return named;
  const auto directory = user_directory(surroundings, "XDG_STATE_HOME", ".local/state");
  if (!directory) return forward_error(directory, "no state directory: give --state DIR");
  return directory;
}

Result<std::string> data_directory_of(const Surroundings& surroundings) {
  const std::string named = surroundings.variable("TANDEM_DATA");
  if (!named.empty()) return named;
  const auto directory = user_directory(surroundings, "XDG_DATA_HOME", ".local/share");
  if (!directory) return forward_error(directory, "no data directory: set TANDEM_DATA");
  return directory;
}

}  // namespace tandem::tools
