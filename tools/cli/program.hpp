/// The `tandem` program: finds the command in the arguments, runs it, and turns errors into messages and exit codes.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/surroundings.hpp"

namespace tandem::tools {

/// `arguments` without the program's name.
[[nodiscard]] int run_program(const std::vector<std::string>& arguments, Surroundings& surroundings);

}  // namespace tandem::tools
