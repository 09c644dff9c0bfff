/// What `tune` and `asktell` have in common: the study file, its overrides, and how to treat what the state holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/command.hpp"
#include "tuner/study/study_spec.hpp"

namespace tandem::tools {

struct StudyOptions {
  std::string file;
  std::vector<std::string> overrides;
  std::optional<std::uint64_t> seed;
  bool resume = false;
  bool fresh = false;
};

void add_study_options(CLI::App& command, StudyOptions& options);

/// The study file with its overrides.
[[nodiscard]] Result<tuner::StudySpec> read_study(const Surroundings& surroundings, const StudyOptions& options,
                                                  tuner::StudyUse use);

/// --seed, else the file's, else one from the operating system.
[[nodiscard]] std::uint64_t choose_seed(const StudyOptions& options, const tuner::StudySpec& spec);

}  // namespace tandem::tools
