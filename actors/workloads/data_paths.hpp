/// DataPaths: where data sets are looked for, in this order.
#pragma once

#include <string>
#include <vector>

namespace tandem::actors {

struct DataPaths {
  std::string data_directory;        ///< named by the user; may be empty
  std::vector<std::string> shipped;  ///< installed or built with the program
  std::string environment;           ///< the caller's $TANDEM_DATA; may be empty

  /// Every directory to try, best first, without repetitions.
  [[nodiscard]] std::vector<std::string> all() const;
};

/// The shipped directories: beside the executable ("../share/tandem/data"), installed, and in the source tree.
[[nodiscard]] std::vector<std::string> shipped_data_directories();
[[nodiscard]] DataPaths default_data_paths(std::string data_directory, std::string environment = {});

}  // namespace tandem::actors
