/// CRC-32C (Castagnoli), the checksum of frames. Uses the processor's instruction where there is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tandem::runtime {

/// Continues `previous` (0 to begin) over `bytes`.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous = 0) noexcept;
/// The same without the instruction, for tests and other processors.
[[nodiscard]] std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t previous = 0) noexcept;

}  // namespace tandem::runtime
