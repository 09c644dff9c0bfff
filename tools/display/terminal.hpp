/// Terminal: its size and whether it shows UTF-8.
#pragma once

#include "tools/display/frame.hpp"

namespace tandem::tools {

/// Of the terminal behind a descriptor; 80 × 24 where the kernel does not know.
[[nodiscard]] FrameSize terminal_size(int descriptor, bool utf8);

}  // namespace tandem::tools
