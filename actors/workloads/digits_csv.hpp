/// Images as CSV: one a line, its pixels and then its label, all whole numbers.
#pragma once

#include <string_view>

#include "actors/workloads/dataset.hpp"
#include "runtime/base/result.hpp"

namespace tandem::actors {

/// What a row must look like.
struct CsvShape {
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  int pixel_maximum = 0;
  int classes = 0;
};

/// Errors (data_loss) name the file, the line, the column, and what is allowed.
[[nodiscard]] Result<LabelledImages> parse_csv_images(std::string_view text, const CsvShape& shape,
                                                      std::string_view name);

}  // namespace tandem::actors
