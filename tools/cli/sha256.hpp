/// SHA-256, for the checksums of data files.
#pragma once

#include <string>
#include <string_view>

namespace tandem::tools {

/// Lower-case hexadecimal.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace tandem::tools
