#include "actors/trial/checkpoint_file.hpp"

#include <fmt/format.h>

namespace tandem::actors {

std::string checkpoint_path(std::string_view directory, int epoch) {
  return fmt::format("{}/epoch-{}.checkpoint", directory, epoch);
}

Result<> write_checkpoint(FileSystem& files, const std::string& path, std::string_view bytes) {
  return files.write_file_atomic(path, bytes, FileSystem::Durability::power_loss);
}

Result<std::string> read_checkpoint(FileSystem& files, const std::string& path) { return files.read_file(path); }

}  // namespace tandem::actors
