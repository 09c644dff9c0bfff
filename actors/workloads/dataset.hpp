/// Dataset: images and labels in memory as bytes, split into training, validation and test. Loaded once in a template
/// process and never changed, so that its forks share the pages.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/workloads/dataset_catalog.hpp"
#include "runtime/base/file_system.hpp"
#include "runtime/base/result.hpp"

namespace tandem::actors {

/// `labels.size()` images of the same size, one after the other, row by row.
struct LabelledImages {
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;

  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(labels.size()); }
  [[nodiscard]] std::size_t pixels_per_image() const noexcept { return std::size_t{height} * width; }
  [[nodiscard]] const std::uint8_t* image(std::int64_t index) const noexcept {
    return pixels.data() + static_cast<std::size_t>(index) * pixels_per_image();
  }
};

struct Dataset {
  std::string name;
  int classes = 0;
  int pixel_maximum = 255;
  LabelledImages training;
  LabelledImages validation;  ///< held out of training, stratified; the same for every trial
  LabelledImages test;

  /// Of the training pixels divided by `pixel_maximum`: inputs are standardised with these.
  double pixel_mean = 0;
  double pixel_deviation = 1;
};

/// Errors name the file and the line or offset.
[[nodiscard]] Result<std::shared_ptr<const Dataset>> load_dataset(const DatasetInfo& info,
                                                                  const DatasetLocation& location,
                                                                  const FileSystem& files);

}  // namespace tandem::actors
