// tandem doctor
#include <ostream>

#include "tools/cli/command.hpp"
#include "tools/cli/json_output.hpp"
#include "tools/display/table.hpp"
#include "tools/doctor.hpp"

namespace tandem::tools {
namespace {

nlohmann::json finding_document(const Finding& finding) {
  return {{"name", finding.name},
          {"state", to_string(finding.state)},
          {"value", finding.value},
          {"meaning", finding.meaning},
          {"remedy", finding.remedy}};
}

}  // namespace

void add_doctor(CommandLine& line) {
  auto run = [](Surroundings& surroundings, const CommonOptions& common) -> Result<ExitCode> {
    Table table({"", "what", "found", "which means"});
    for (const Finding& finding : examine({surroundings.files, surroundings.clock, surroundings.environment})) {
      if (common.json) {
        write_json(surroundings.out, finding_document(finding));
        continue;
      }
      const std::string remedy = finding.remedy.empty() ? "" : " Remedy: " + finding.remedy;
      table.add_row({std::string(to_string(finding.state)), finding.name, finding.value, finding.meaning + remedy});
    }
    if (!common.json) surroundings.out << table.text();
    return ExitCode::done;
  };
  add_command(line, "doctor", "Say what this machine offers, what that means, and how to get more",
              "tandem doctor --json", run);
}

}  // namespace tandem::tools
