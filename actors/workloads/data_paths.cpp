#include "actors/workloads/data_paths.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tandem::actors {

namespace {

/// Directory of the running executable; empty when /proc does not tell.
std::string executable_directory() {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (length <= 0) return {};
  const std::string file(path.data(), static_cast<std::size_t>(length));
  return file.substr(0, file.rfind('/'));
}

}  // namespace

std::vector<std::string> DataPaths::all() const {
  std::vector<std::string> directories;
  const auto add = [&](std::string directory) {
    while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
    if (!directory.empty() && std::find(directories.begin(), directories.end(), directory) == directories.end()) {
      directories.push_back(std::move(directory));
    }
  };
  add(data_directory);
  for (const std::string& directory : shipped) add(directory);
  add(environment);
  return directories;
}

std::vector<std::string> shipped_data_directories() {
  std::vector<std::string> directories;
  if (const std::string here = executable_directory(); !here.empty()) {
    directories.push_back(here + "/../share/tandem/data");
  }
  directories.emplace_back(TANDEM_INSTALLED_DATA_DIR);
  directories.emplace_back(TANDEM_SOURCE_DATA_DIR);
  return directories;
}

DataPaths default_data_paths(std::string data_directory, std::string environment) {
  return {std::move(data_directory), shipped_data_directories(), std::move(environment)};
}

}  // namespace tandem::actors
