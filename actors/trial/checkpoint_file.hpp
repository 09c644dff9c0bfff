/// Checkpoint files of a trial: one per epoch, written atomically, checked when read.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/file_system.hpp"
#include "runtime/base/result.hpp"

namespace tandem::actors {

/// `directory`/epoch-N.checkpoint
[[nodiscard]] std::string checkpoint_path(std::string_view directory, int epoch);

/// Errors name the file; resource_exhausted when the disk is full, and then the file before it still stands.
Result<> write_checkpoint(FileSystem& files, const std::string& path, std::string_view bytes);

/// not_found, or data_loss when the file is damaged.
[[nodiscard]] Result<std::string> read_checkpoint(FileSystem& files, const std::string& path);

}  // namespace tandem::actors
