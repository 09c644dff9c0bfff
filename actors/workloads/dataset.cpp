#include "actors/workloads/dataset.hpp"

#include <array>
#include <cmath>
#include <tuple>

#include "actors/workloads/data_file.hpp"
#include "actors/workloads/digits_csv.hpp"
#include "actors/workloads/idx_file.hpp"
#include "actors/workloads/split.hpp"
#include "runtime/base/random.hpp"

namespace tandem::actors {

namespace {

/// The same splits for every study and every trial: results can be compared.
constexpr std::uint64_t kSplitSeed = 20'231;

Result<LabelledImages> read_idx_pair(const DatasetInfo& info, const std::string& images_path,
                                     const std::string& labels_path, const FileSystem& files) {
  auto image_bytes = read_data_file(files, images_path);
  if (!image_bytes) return forward_error(image_bytes);
  auto images = parse_idx_images(*image_bytes, images_path);
  if (!images) return images;
  if (images->height != static_cast<std::uint32_t>(info.height) ||
      images->width != static_cast<std::uint32_t>(info.width)) {
    return fail(ErrorCode::data_loss, "{}: images of {} by {} pixels, but {} has {} by {}", images_path, images->height,
                images->width, info.name, info.height, info.width);
  }
  auto label_bytes = read_data_file(files, labels_path);
  if (!label_bytes) return forward_error(label_bytes);
  auto labels = parse_idx_labels(*label_bytes, info.classes, labels_path);
  if (!labels) return forward_error(labels);
  const std::size_t count = images->pixels.size() / images->pixels_per_image();
  if (labels->size() != count) {
    return fail(ErrorCode::data_loss, "{}: {} labels, but {} has {} images", labels_path, labels->size(), images_path,
                count);
  }
  images->labels = std::move(*labels);
  return images;
}

Result<> read_idx(const DatasetInfo& info, const DatasetLocation& location, const FileSystem& files, Dataset& dataset) {
  auto all = read_idx_pair(info, location.files.at(0), location.files.at(1), files);
  if (!all) return forward_error(all);
  auto test = read_idx_pair(info, location.files.at(2), location.files.at(3), files);
  if (!test) return forward_error(test);
  dataset.test = std::move(*test);
  std::tie(dataset.training, dataset.validation) = hold_out(*all, info.validation, kSplitSeed);
  return {};
}

Result<> read_csv(const DatasetInfo& info, const DatasetLocation& location, const FileSystem& files, Dataset& dataset) {
  const std::string& path = location.files.at(0);
  auto text = read_data_file(files, path);
  if (!text) return forward_error(text);
  const CsvShape shape{static_cast<std::uint32_t>(info.height), static_cast<std::uint32_t>(info.width),
                       info.pixel_maximum, info.classes};
  auto all = parse_csv_images(*text, shape, path);
  if (!all) return forward_error(all);
  LabelledImages rest;
  std::tie(rest, dataset.test) = hold_out(*all, info.test, kSplitSeed);
  std::tie(dataset.training, dataset.validation) = hold_out(rest, info.validation, kSplitSeed + 1);
  return {};
}

Result<> check_sizes(const DatasetInfo& info, const DatasetLocation& location, const Dataset& dataset) {
  const std::int64_t expected = info.training + info.validation + info.test;
  const std::int64_t found = dataset.training.size() + dataset.validation.size() + dataset.test.size();
  if (found == expected && dataset.training.size() == info.training && dataset.test.size() == info.test) return {};
  return fail(ErrorCode::data_loss, "{}: {} samples, but {} has {}; get it again with: tandem data get {}",
              location.directory, found, info.name, expected, info.name);
}

void measure_pixels(Dataset& dataset) {
  std::array<std::uint64_t, 256> histogram{};
  for (const std::uint8_t pixel : dataset.training.pixels) ++histogram[pixel];
  const auto count = static_cast<double>(dataset.training.pixels.size());
  double sum = 0;
  double squares = 0;
  for (std::size_t value = 0; value < histogram.size(); ++value) {
    const double scaled = static_cast<double>(value) / dataset.pixel_maximum;
    sum += static_cast<double>(histogram[value]) * scaled;
    squares += static_cast<double>(histogram[value]) * scaled * scaled;
  }
  dataset.pixel_mean = sum / count;
  const double variance = squares / count - dataset.pixel_mean * dataset.pixel_mean;
  dataset.pixel_deviation = variance > 0 ? std::sqrt(variance) : 1.0;
}

}  // namespace

Result<std::shared_ptr<const Dataset>> load_dataset(const DatasetInfo& info, const DatasetLocation& location,
                                                    const FileSystem& files) {
  auto dataset = std::make_shared<Dataset>();
  dataset->name = info.name;
  dataset->classes = info.classes;
  dataset->pixel_maximum = info.pixel_maximum;
  const auto read = info.format == DatasetInfo::Format::idx_images ? read_idx(info, location, files, *dataset)
                                                                   : read_csv(info, location, files, *dataset);
  if (!read) return forward_error(read);
  if (auto checked = check_sizes(info, location, *dataset); !checked) return forward_error(checked);
  measure_pixels(*dataset);
  return std::shared_ptr<const Dataset>(std::move(dataset));
}

}  // namespace tandem::actors
