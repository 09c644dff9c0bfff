/// Sizes of memory and of files, as people write and read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"

namespace tandem {

/// "512M", "1.5GiB", "4096": a number of bytes, or one with K, M, G or T (also KiB and so on), powers of 1024.
/// Decimal units ("512MB") are refused: they would be read differently by different people.
/// invalid_argument says what is allowed.
[[nodiscard]] Result<std::int64_t> parse_byte_size(std::string_view text);

/// "1.5 GiB", "512.0 MiB", "17 bytes".
[[nodiscard]] std::string format_byte_size(std::int64_t bytes);

}  // namespace tandem
