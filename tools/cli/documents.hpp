/// The JSON documents of CLI.md's contract, made from a study's records.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "tuner/study/study.hpp"

namespace tandem::tools {

/// One line of `trials`.
[[nodiscard]] nlohmann::json trial_document(const tuner::Trial& trial);
/// The value of "best": trial, step, objectives, params, system and, once measured, test values.
[[nodiscard]] nlohmann::json best_document(const tuner::Study& study, const tuner::BestTrial& best);
/// What `tune` prints at the end.
[[nodiscard]] nlohmann::json study_document(const tuner::Study& study, std::string_view energy_source);

/// As the contract names it: a trial that waits for a slot, or for its host to come back, counts as running.
[[nodiscard]] std::string_view state_name(const tuner::Trial& trial);
/// The system parameters a trial runs under: what its pipeline chose, else what it last ran, else what it was given.
[[nodiscard]] const tuner::Parameters& system_of(const tuner::Trial& trial);

}  // namespace tandem::tools
