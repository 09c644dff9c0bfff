// tandem trials STUDY
#include <memory>
#include <ostream>

#include "tools/cli/command.hpp"
#include "tools/cli/documents.hpp"
#include "tools/cli/json_output.hpp"
#include "tools/cli/stored_study.hpp"
#include "tools/display/table.hpp"
#include "tools/display/words.hpp"

namespace tandem::tools {
namespace {

void print_table(std::ostream& out, const tuner::Study& study) {
  const std::string objective = study.spec().objectives.empty() ? "" : study.spec().objectives.front().name;
  Table table({"trial", "state", "epochs", objective, "seconds", "params", "system"});
  for (const auto& trial : study.trials()) {
    double seconds = 0;
    for (const auto& report : trial.reports) seconds += report.seconds;
    std::string value;
    if (!trial.reports.empty()) {
      const auto& values = trial.reports.back().values;
      if (const auto found = values.find(objective); found != values.end()) value = short_number(found->second);
    }
    table.add_row({std::to_string(trial.id), std::string(state_name(trial)), std::to_string(trial.reports.size()),
                   value, short_seconds(seconds), short_parameters(trial.params),
                   trial.error.empty() ? short_parameters(system_of(trial)) : first_line(trial.error)});
  }
  out << table.text();
}

}  // namespace

void add_trials(CommandLine& line) {
  const auto study_name = std::make_shared<std::string>();
  auto run = [study_name](Surroundings& surroundings, const CommonOptions& common) -> Result<ExitCode> {
    const auto stored = load_stored_study(surroundings, common, *study_name);
    if (!stored) return forward_error(stored);
    if (common.json) {
      for (const auto& trial : stored->study.trials()) write_json(surroundings.out, trial_document(trial));
    } else {
      print_table(surroundings.out, stored->study);
    }
    return ExitCode::done;
  };
  CLI::App* command = add_command(line, "trials", "List a study's trials", "tandem trials digits-mlp --json", run);
  command->add_option("STUDY", *study_name, "A study's name, or its file")->required();
}

}  // namespace tandem::tools
