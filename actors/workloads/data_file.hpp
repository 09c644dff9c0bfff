/// Data files as they come: plain or gzip, told apart by their first bytes.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/file_system.hpp"
#include "runtime/base/result.hpp"

namespace tandem::actors {

/// The unpacked bytes. data_loss names the file and the offset when it is cut short or damaged.
[[nodiscard]] Result<std::string> read_data_file(const FileSystem& files, const std::string& path);

/// `bytes` unpacked if they are gzip, else as they are; `name` is for errors.
[[nodiscard]] Result<std::string> unpack(std::string bytes, std::string_view name);

}  // namespace tandem::actors
