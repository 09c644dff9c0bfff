/// Decision: what a trial does after a report.
#pragma once

#include <optional>
#include <string_view>

namespace tandem::tuner {

enum class Decision { proceed, stop, pause };  ///< "continue", "stop", "pause" on the wire
[[nodiscard]] std::string_view to_string(Decision decision) noexcept;

}  // namespace tandem::tuner
