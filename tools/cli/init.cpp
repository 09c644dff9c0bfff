// tandem init [FILE]
#include <cctype>
#include <memory>
#include <ostream>

#include "tools/cli/command.hpp"
#include "tools/cli/json_output.hpp"
#include "tools/cli/study_template.hpp"
#include "tuner/study/space_reader.hpp"

namespace tandem::tools {
namespace {

struct InitOptions {
  std::string file = "study.toml";
  std::string workload = "mlp";
  std::string dataset;  ///< empty: the workload's first
};

/// The study is called as its file; what a study's name may not hold becomes '-'.
std::string study_name_of(const std::string& file) {
  std::string name = file.substr(file.rfind('/') + 1);
  if (const auto dot = name.rfind('.'); dot != std::string::npos && dot > 0) name.resize(dot);
  for (char& letter : name) {
    const bool allowed = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-';
    if (!allowed && letter != '.') letter = '-';
  }
  return tuner::is_name(name) ? name : "study";
}

Result<ExitCode> init(Surroundings& surroundings, const CommonOptions& common, const InitOptions& options) {
  const auto text = study_template(options.workload, options.dataset, study_name_of(options.file));
  if (!text) return forward_error(text);
  if (surroundings.files.exists(options.file)) {
    return fail(ErrorCode::already_exists, "{} exists already; init overwrites nothing", options.file);
  }
  const auto written = surroundings.files.write_file_atomic(options.file, *text);
  if (!written) return fail(ErrorCode::invalid_argument, "{}", written.error().message());
  if (common.json) {
    write_json(surroundings.out, {{"file", options.file}});
  } else {
    surroundings.out << options.file << " written. Run it with: tandem tune " << options.file << "\n";
  }
  return ExitCode::done;
}

}  // namespace

void add_init(CommandLine& line) {
  const auto options = std::make_shared<InitOptions>();
  auto run = [options](Surroundings& surroundings, const CommonOptions& common) {
    return init(surroundings, common, *options);
  };
  CLI::App* command = add_command(line, "init", "Write a commented study file to start from",
                                  "tandem init my-study.toml --workload lenet5 --dataset mnist", run);
  command->add_option("FILE", options->file, "Where to write it")->capture_default_str();
  command->add_option("--workload", options->workload, "Built-in workload")->capture_default_str();
  command->add_option("--dataset", options->dataset, "Data set [the workload's first]");
}

}  // namespace tandem::tools
