/// Small graphics made of characters: a curve, a bar.
#pragma once

#include <string>
#include <vector>

namespace tandem::tools {

/// The last `columns` values, scaled between the lowest and the highest of them: ▁▂▃▄▅▆▇█ (or ._-=^ without UTF-8).
/// Non-finite values show as "!".
[[nodiscard]] std::string sparkline(const std::vector<double>& values, int columns, bool utf8 = true);

/// A bar of exactly `columns`; `share` from 0 to 1.
[[nodiscard]] std::string progress_bar(double share, int columns, bool utf8 = true);

}  // namespace tandem::tools
