// tandem best STUDY
#include <memory>
#include <ostream>

#include "tools/cli/command.hpp"
#include "tools/cli/documents.hpp"
#include "tools/cli/json_output.hpp"
#include "tools/cli/stored_study.hpp"
#include "tools/display/final_report.hpp"

namespace tandem::tools {

void add_best(CommandLine& line) {
  const auto study_name = std::make_shared<std::string>();
  auto run = [study_name](Surroundings& surroundings, const CommonOptions& common) -> Result<ExitCode> {
    const auto stored = load_stored_study(surroundings, common, *study_name);
    if (!stored) return forward_error(stored);
    const auto best = stored->study.best();
    if (!best) {
      return fail(ErrorCode::not_found, "study '{}' has no trial with a finite {} yet", stored->record.name,
                  stored->study.spec().objectives.front().name);
    }
    if (common.json) {
      write_json(surroundings.out, best_document(stored->study, *best));
    } else {
      surroundings.out << describe_best(stored->study, *best);
    }
    return ExitCode::done;
  };
  CLI::App* command = add_command(line, "best", "Show a study's best trial", "tandem best digits-mlp --json", run);
  command->add_option("STUDY", *study_name, "A study's name, or its file")->required();
}

}  // namespace tandem::tools
