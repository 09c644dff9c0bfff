/// Reads [space] of a study file. Private to tuner/study.
#pragma once

#include <optional>

#include "tuner/space/space.hpp"
#include "tuner/study/toml_document.hpp"

namespace tandem::tuner {

/// The first error goes to `error`.
[[nodiscard]] Space read_space(const TomlDocument& document, std::optional<Error>& error);

/// Letters, digits, '.', '_' and '-', beginning with a letter, a digit or '_'; at most kMaxNameLength.
[[nodiscard]] bool is_name(std::string_view text);
/// The system parameters this version knows.
[[nodiscard]] const std::vector<std::string_view>& system_parameter_names();

}  // namespace tandem::tuner
