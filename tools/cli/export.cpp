// tandem export STUDY --format csv|json
#include <memory>
#include <ostream>
#include <set>

#include "tools/cli/command.hpp"
#include "tools/cli/csv.hpp"
#include "tools/cli/documents.hpp"
#include "tools/cli/json_output.hpp"
#include "tools/cli/stored_study.hpp"
#include "tuner/space/value_text.hpp"

namespace tandem::tools {
namespace {

using Names = std::set<std::string, std::less<>>;

/// The columns beside the fixed ones: every name that any trial has.
struct Columns {
  Names values, params, system;
};

Columns columns_of(const tuner::Study& study) {
  Columns columns;
  for (const auto& trial : study.trials()) {
    for (const auto& [name, value] : trial.params) columns.params.insert(name);
    for (const auto& [name, value] : system_of(trial)) columns.system.insert(name);
    for (const auto& report : trial.reports) {
      for (const auto& [name, value] : report.values) columns.values.insert(name);
    }
  }
  return columns;
}

std::string cell(const tuner::Parameters& params, const std::string& name) {
  const auto found = params.find(name);
  if (found == params.end()) return {};
  const auto* text = std::get_if<std::string>(&found->second);
  return text != nullptr ? *text : tuner::to_text(found->second);
}

/// One row per report.
void write_csv(std::ostream& out, const tuner::Study& study) {
  const Columns columns = columns_of(study);
  std::vector<std::string> header = {"trial", "state", "step", "seconds", "energy_joules"};
  for (const auto& name : columns.values) header.push_back("value." + name);
  for (const auto& name : columns.params) header.push_back("param." + name);
  for (const auto& name : columns.system) header.push_back("system." + name);
  out << csv_record(header);
  for (const auto& trial : study.trials()) {
    for (const auto& report : trial.reports) {
      std::vector<std::string> row = {std::to_string(trial.id), std::string(state_name(trial)),
                                      std::to_string(report.step), tuner::to_text(tuner::Value(report.seconds)),
                                      tuner::to_text(tuner::Value(report.energy_joules))};
      for (const auto& name : columns.values) {
        const auto found = report.values.find(name);
        row.push_back(found == report.values.end() ? "" : tuner::to_text(tuner::Value(found->second)));
      }
      for (const auto& name : columns.params) row.push_back(cell(trial.params, name));
      for (const auto& name : columns.system) row.push_back(cell(system_of(trial), name));
      out << csv_record(row);
    }
  }
}

nlohmann::json full_document(const StoredStudy& stored) {
  nlohmann::json document = {
      {"study", stored.record.name},      {"state", stored.record.state},
      {"seed", stored.record.seed},       {"created_unix_nanoseconds", stored.record.created_unix_nanoseconds},
      {"file", stored.record.source},     {"summary", study_document(stored.study, "")},
      {"trials", nlohmann::json::array()}};
  // Which sensor it was is known while the study runs only.
  document["summary"].erase("energy_source");
  for (const auto& trial : stored.study.trials()) document["trials"].push_back(trial_document(trial));
  return document;
}

}  // namespace

void add_export(CommandLine& line) {
  struct Options {
    std::string study, format;
  };
  const auto options = std::make_shared<Options>();
  auto run = [options](Surroundings& surroundings, const CommonOptions& common) -> Result<ExitCode> {
    const auto stored = load_stored_study(surroundings, common, options->study);
    if (!stored) return forward_error(stored);
    if (options->format == "csv") {
      write_csv(surroundings.out, stored->study);
    } else {
      write_json(surroundings.out, full_document(*stored));
    }
    return ExitCode::done;
  };
  CLI::App* command = add_command(line, "export", "Write a study out as CSV (one row per report) or JSON",
                                  "tandem export digits-mlp --format csv > digits.csv", run);
  command->add_option("STUDY", options->study, "A study's name, or its file")->required();
  command->add_option("--format", options->format, "csv or json")->required()->check(CLI::IsMember({"csv", "json"}));
}

}  // namespace tandem::tools
