#include "tools/cli/study_options.hpp"

#include "runtime/base/random.hpp"
#include "tools/cli/stored_study.hpp"

namespace tandem::tools {

void add_study_options(CLI::App& command, StudyOptions& options) {
  command.add_option("STUDY.toml", options.file, "The study file")->required();
  auto* resume =
      command.add_flag("--resume", options.resume, "Go on with an unfinished study; start it if there is none");
  command.add_flag("--fresh", options.fresh, "Forget what is kept of this study and start anew")->excludes(resume);
  command.add_option("--seed", options.seed, "Seed, instead of the file's")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--set", options.overrides, "Override one key of the file; may be given several times")
      ->type_name("table.key=value")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

Result<tuner::StudySpec> read_study(const Surroundings& surroundings, const StudyOptions& options,
                                    tuner::StudyUse use) {
  const auto text = read_study_file(surroundings, options.file);
  if (!text) return forward_error(text);
  return tuner::parse_study(*text, options.file, options.overrides, use);
}

std::uint64_t choose_seed(const StudyOptions& options, const tuner::StudySpec& spec) {
  if (options.seed) return *options.seed;
  return spec.seed ? *spec.seed : entropy_seed();
}

}  // namespace tandem::tools
