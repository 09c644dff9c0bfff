// tandem version
#include <ostream>

#include "tools/cli/command.hpp"
#include "tools/cli/json_output.hpp"
#include "tools/version.hpp"

namespace tandem::tools {

void add_version(CommandLine& line) {
  add_command(line, "version", "Print the version", "tandem version",
              [](Surroundings& surroundings, const CommonOptions& common) -> Result<ExitCode> {
                if (common.json) {
                  write_json(surroundings.out, {{"version", kVersion}});
                } else {
                  surroundings.out << "tandem " << kVersion << "\n";
                }
                return ExitCode::done;
              });
}

}  // namespace tandem::tools
