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
  CLI::App* command = line.app.add_subcommand(name, summary);
  command->footer("Example:\n  " + example);
  command->callback([&line, action = std::move(action)] { line.action = action; });
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
