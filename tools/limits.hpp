/// Limits of the command line.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tandem::tools::limits {

inline constexpr std::size_t kAskTellLineBytes = std::size_t{1} << 20;
/// Arrays and objects within one another in a line of asktell.
inline constexpr std::size_t kAskTellNesting = 16;
inline constexpr std::int64_t kTrialsPerAsk = 10'000;
/// Snapshots and lines that wait for a slow terminal.
inline constexpr std::size_t kDisplayQueue = 64;
/// How long a terminal may take to take the last of the display, at the second interrupt.
inline constexpr std::chrono::milliseconds kTidyDeadline{200};
inline constexpr std::size_t kDataFileBytes = std::size_t{1} << 30;
/// Of the download of one data set by an outside program.
inline constexpr int kDownloadTimeoutSeconds = 600;

}  // namespace tandem::tools::limits
