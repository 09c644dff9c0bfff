/// Limits of workloads and data sets, together.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem::actors {

/// A data file, packed or unpacked.
inline constexpr std::size_t kDataFileBytes = std::size_t{1} << 30;
/// Images of one IDX file, and their height and width.
inline constexpr std::uint32_t kIdxImages = 10'000'000;
inline constexpr std::uint32_t kImageSide = 4'096;
/// One line of a CSV file.
inline constexpr std::size_t kCsvLineBytes = std::size_t{1} << 20;

inline constexpr std::int64_t kBatchSize = 65'536;
inline constexpr std::int64_t kHiddenUnits = 16'384;
/// Samples in one forward pass of an evaluation: fixed, so that metrics do not depend on the batch size.
inline constexpr std::int64_t kEvaluationBatch = 250;

}  // namespace tandem::actors
