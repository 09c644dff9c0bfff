/// Values in few characters, for people; files and JSON carry them in full.
#pragma once

#include <string>
#include <string_view>

#include "tuner/space/value.hpp"

namespace tandem::tools {

/// Four significant digits: 0.9722, 1.2e-05, nan.
[[nodiscard]] std::string short_number(double number);
/// "340 us", "12.3 ms", "4.21 s", "3 min 07 s", "2 h 05 min"; empty when negative.
[[nodiscard]] std::string short_seconds(double seconds);
/// "batch_size=64 learning_rate=0.012"
[[nodiscard]] std::string short_parameters(const tuner::Parameters& params);
[[nodiscard]] std::string first_line(std::string_view text);

}  // namespace tandem::tools
