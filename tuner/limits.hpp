/// Every limit of the tuner, in one place.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem::tuner::limits {

// Study files
inline constexpr std::size_t kMaxStudyFileBytes = 1 << 20;
/// Parts of a dotted key: each nests its value one deeper.
inline constexpr std::size_t kMaxKeyParts = 16;
inline constexpr std::size_t kMaxNameLength = 100;  ///< of studies, parameters and objectives
inline constexpr std::size_t kMaxTextBytes = 4096;  ///< of one string in a study file
inline constexpr std::size_t kMaxObjectives = 16;
inline constexpr std::int64_t kMaxTrials = 10'000'000;
inline constexpr std::int64_t kMaxParallel = 100'000;
inline constexpr std::int64_t kMaxEpochs = 1'000'000;
inline constexpr std::int64_t kMaxReductionFactor = 1'000;
inline constexpr std::size_t kMaxCommandWords = 1'000;
inline constexpr std::int64_t kMinTrialMemoryBytes = std::int64_t{64} << 20;
inline constexpr std::size_t kMaxSystemValues = 1'000;  ///< of one system parameter

// Spaces
inline constexpr std::size_t kMaxParameters = 1'000;
inline constexpr std::size_t kMaxChoices = 10'000;
inline constexpr std::int64_t kMaxInteger = std::int64_t{1} << 53;  ///< exact as a double, so in every JSON reader
inline constexpr double kMaxGridValues = 1e9;                       ///< of one stepped float
inline constexpr std::size_t kMaxCountedCombinations = 1'000'000;   ///< of conditions, when counting a space

// Studies
inline constexpr std::size_t kMaxEnqueued = 100'000;
inline constexpr std::size_t kMaxReportedValues = 1'000;       ///< of one report
inline constexpr std::size_t kMaxTrialErrorBytes = 64 * 1024;  ///< longer texts are cut
inline constexpr std::size_t kMaxStageRecords = 100'000;       ///< of one trial
inline constexpr int kMaxRandomRejections = 64;  ///< duplicates drawn before the next free point is taken instead

// Store
inline constexpr int kStoreBusyTimeoutMilliseconds = 10'000;
inline constexpr std::size_t kMaxDocumentBytes = std::size_t{256} << 20;

}  // namespace tandem::tuner::limits
