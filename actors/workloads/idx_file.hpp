/// IDX: the format of MNIST. A magic number, the dimensions (big-endian), then the bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "actors/workloads/dataset.hpp"
#include "runtime/base/result.hpp"

namespace tandem::actors {

/// `bytes` unpacked; `name` is for errors (data_loss), which tell the offset. Fills pixels, height and width.
[[nodiscard]] Result<LabelledImages> parse_idx_images(std::string_view bytes, std::string_view name);
/// Every label is below `classes`.
[[nodiscard]] Result<std::vector<std::uint8_t>> parse_idx_labels(std::string_view bytes, int classes,
                                                                 std::string_view name);

}  // namespace tandem::actors
