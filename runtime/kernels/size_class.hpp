/// SizeClass: block sizes of the retaining allocator, four to each power of two, so that at most a fifth is wasted.
#pragma once

#include <bit>
#include <cstddef>

namespace tandem::runtime {

struct SizeClass {
  static constexpr std::size_t kSmallestBytes = 256;
  static constexpr std::size_t kLargestBytes = std::size_t{1} << 40;
  static constexpr std::size_t kCount = 4 * (40 - 8) + 1;

  /// Of the smallest block that holds `bytes`; kCount when none does.
  [[nodiscard]] static constexpr std::size_t of(std::size_t bytes) noexcept {
    if (bytes <= kSmallestBytes) return 0;
    if (bytes > kLargestBytes) return kCount;
    const std::size_t power = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;  // 2^power < bytes ≤ 2^(power+1)
    const std::size_t quarter = std::size_t{1} << (power - 2);
    const std::size_t step = (bytes - (std::size_t{1} << power) + quarter - 1) / quarter;  // 1 … 4
    return 4 * (power - 8) + step;
  }

  [[nodiscard]] static constexpr std::size_t bytes(std::size_t size_class) noexcept {
    const std::size_t power = 8 + size_class / 4;
    return (std::size_t{1} << power) + (size_class % 4) * (std::size_t{1} << (power - 2));
  }
};

}  // namespace tandem::runtime
