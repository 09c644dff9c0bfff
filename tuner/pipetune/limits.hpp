/// Every limit of the pipeline, in one place.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem::tuner::limits {

inline constexpr std::int64_t kMaxSystemCores = 4'096;  ///< of cores, threads, replicas
inline constexpr std::int64_t kMaxMicroBatch = std::int64_t{1} << 24;
inline constexpr std::size_t kMaxListedCombinations = 10'000;  ///< of the lists in [system]
inline constexpr std::size_t kMaxCandidates = 256;             ///< of the joint grid
inline constexpr std::size_t kMaxGroundTruthEntries = 4'096;
inline constexpr std::size_t kMaxProfileFeatures = 256;
inline constexpr std::size_t kMaxClusters = 16;           ///< of profiles with the same features
inline constexpr std::size_t kMaxStepSamples = 256;       ///< kept of one candidate
inline constexpr std::size_t kMaxUntakenRecords = 4'096;  ///< of stages; older ones are forgotten
inline constexpr int kMaxReprobes = 3;                    ///< of one trial
inline constexpr std::int64_t kMaxContradictions = 2;     ///< after which an entry gives no more advice

}  // namespace tandem::tuner::limits
