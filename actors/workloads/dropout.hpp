/// Dropout masks from a counter generator: each depends on the seed, the step, the sample and the unit alone, so that
/// neither the chunking of a batch nor the order of chunks changes them.
#pragma once

#include <cstdint>
#include <span>

namespace tandem::actors {

struct DropoutStream {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
  std::int64_t first_sample = 0;  ///< place in the batch
};

/// Fills `mask` (samples × units, row by row) with 0, at `probability`, or 1 / (1 − probability).
/// `layer` tells several dropouts of one model apart.
void fill_dropout_mask(const DropoutStream& stream, std::uint64_t layer, double probability, std::int64_t units,
                       std::span<float> mask);

}  // namespace tandem::actors
