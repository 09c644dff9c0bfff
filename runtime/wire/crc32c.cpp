#include "runtime/wire/crc32c.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace tandem::runtime {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

/// Table k advances a byte by k further bytes (slicing by eight, Kounavis and Berry 2005).
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1U) ? 0x82f63b78U : 0U);
    tables[0][byte] = value;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t value = tables[k - 1][byte];
      tables[k][byte] = (value >> 8) ^ tables[0][value & 0xffU];
    }
  }
  return tables;
}
constexpr Tables kTables = make_tables();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t crc32c_instruction(std::span<const std::byte> bytes,
                                                                   std::uint32_t previous) noexcept {
  std::uint64_t crc = ~previous;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  for (; left > 0; ++at, --left) {
    crc = _mm_crc32_u8(static_cast<std::uint32_t>(crc), std::to_integer<std::uint8_t>(*at));
  }
  return ~static_cast<std::uint32_t>(crc);
}
#endif

}  // namespace

std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t previous) noexcept {
  std::uint32_t crc = ~previous;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint32_t low, high;
    std::memcpy(&low, at, 4);
    std::memcpy(&high, at + 4, 4);
    low ^= crc;
    crc = kTables[7][low & 0xffU] ^ kTables[6][(low >> 8) & 0xffU] ^ kTables[5][(low >> 16) & 0xffU] ^
          kTables[4][low >> 24] ^ kTables[3][high & 0xffU] ^ kTables[2][(high >> 8) & 0xffU] ^
          kTables[1][(high >> 16) & 0xffU] ^ kTables[0][high >> 24];
  }
  for (; left > 0; ++at, --left) crc = (crc >> 8) ^ kTables[0][(crc ^ std::to_integer<std::uint32_t>(*at)) & 0xffU];
  return ~crc;
}

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous) noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return crc32c_instruction(bytes, previous);
#endif
  return crc32c_portable(bytes, previous);
}

}  // namespace tandem::runtime
