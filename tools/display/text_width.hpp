/// How wide UTF-8 text is on a terminal, and text made to fit.
#pragma once

#include <string>
#include <string_view>

namespace tandem::tools {

/// In columns: East Asian wide characters and emoji take two, combining marks none. Bytes that are not UTF-8 take one.
[[nodiscard]] int text_width(std::string_view text);
/// At most `columns` wide; what is cut off leaves "…" (or "~" without UTF-8). Control characters become '?',
/// so that no text can move the cursor.
[[nodiscard]] std::string fit_text(std::string_view text, int columns, bool utf8 = true);
/// `text`, then blanks up to `columns`.
[[nodiscard]] std::string pad_text(std::string_view text, int columns);

}  // namespace tandem::tools
