#include "tools/cli/study_options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

#include "runtime/base/random.hpp"
#include "tools/cli/stored_study.hpp"

namespace tandem::tools {

void add_study_options(CLI::App& command, StudyOptions& options) {
  command.add_option("STUDY.toml", options.file, "The study file")->required();
  auto* resume =
      command.add_flag("--resume", options.resume, "Go on with an unfinished study; start it if there is none");
  command.add_flag("--fresh", options.fresh, "Forget what is kept of this study and start anew")->excludes(resume);
  // Read here: CLI11 takes what is too large for the largest number there is.
  const auto read_seed = [&options](const std::string& text) {
    std::uint64_t seed = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
    if (error != std::errc() || end != text.data() + text.size()) {
      throw CLI::ValidationError("--seed", fmt::format("'{}' is no integer from 0 to {}", text, UINT64_MAX));
    }
    options.seed = seed;
  };
  command.add_option_function<std::string>("--seed", read_seed, "Seed, instead of the file's")->type_name("N");
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
