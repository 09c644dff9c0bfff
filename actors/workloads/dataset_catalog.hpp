/// The data sets Tandem knows: their files, where they come from, and where they lie on this machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "actors/workloads/data_paths.hpp"
#include "runtime/base/file_system.hpp"
#include "runtime/base/result.hpp"

namespace tandem::actors {

struct DatasetFile {
  std::string name;             ///< without ".gz"; either form is accepted
  std::uint64_t content_bytes;  ///< unpacked
  std::string content_sha256;   ///< of the unpacked bytes: packing differs between sources
};

struct DatasetInfo {
  enum class Format { idx_images, digits_csv };

  std::string name;
  std::string summary;
  std::string licence;
  std::string source;       ///< for a person: where it comes from
  std::string npm_package;  ///< name@version of a package that holds these very files; empty: none
  std::string npm_folder;   ///< where in the package
  Format format = Format::idx_images;
  std::vector<DatasetFile> files;  ///< idx_images: training images and labels, test images and labels
  bool shipped = false;            ///< comes with the program
  int height = 0;
  int width = 0;
  int classes = 0;
  int pixel_maximum = 255;
  std::int64_t training = 0;  ///< samples of each split
  std::int64_t validation = 0;
  std::int64_t test = 0;
};

struct DatasetLocation {
  std::string directory;
  std::vector<std::string> files;  ///< full paths, in the order of DatasetInfo::files
};

[[nodiscard]] const std::vector<DatasetInfo>& builtin_datasets();
[[nodiscard]] const DatasetInfo* find_dataset(std::string_view name);

/// The first directory D of `paths` that has all files in D/NAME, in D itself if D is called NAME, or, when there is
/// only one file, in D. not_found lists the places and names the command that gets the data.
[[nodiscard]] Result<DatasetLocation> locate(std::string_view name, const DataPaths& paths, const FileSystem& files);

}  // namespace tandem::actors
