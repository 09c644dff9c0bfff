#include "actors/workloads/dropout.hpp"

#include <cmath>

#include "runtime/base/random.hpp"

namespace tandem::actors {

namespace {

/// The finalizer of splitmix64: counters to well-mixed bits.
constexpr std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBULL;
  return value ^ (value >> 31U);
}

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ULL;

}  // namespace

void fill_dropout_mask(const DropoutStream& stream, std::uint64_t layer, double probability, std::int64_t units,
                       std::span<float> mask) {
  const auto threshold = static_cast<std::uint64_t>(std::ldexp(probability, 32));  // of 32 random bits
  const auto kept = static_cast<float>(1.0 / (1.0 - probability));
  const std::uint64_t step_seed = mix_seed(mix_seed(stream.seed, layer), static_cast<std::uint64_t>(stream.step));
  const auto width = static_cast<std::size_t>(units);
  for (std::size_t row = 0; (row + 1) * width <= mask.size(); ++row) {
    const std::uint64_t base = mix_seed(step_seed, static_cast<std::uint64_t>(stream.first_sample) + row);
    float* out = mask.data() + row * width;
    for (std::size_t unit = 0; unit < width; unit += 2) {
      const std::uint64_t bits = mixed(base + kGolden * (unit + 1));
      out[unit] = (bits >> 32U) < threshold ? 0.0F : kept;
      if (unit + 1 < width) out[unit + 1] = (bits & 0xFFFFFFFFU) < threshold ? 0.0F : kept;
    }
  }
}

}  // namespace tandem::actors
