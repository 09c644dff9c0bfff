#include "actors/workloads/batch_reader.hpp"

#include <algorithm>
#include <numeric>

#include "runtime/base/random.hpp"

namespace tandem::actors {

std::vector<std::uint32_t> shuffled_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch) {
  std::vector<std::uint32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0U);
  Random random(mix_seed(mix_seed(seed, "shuffle"), static_cast<std::uint64_t>(epoch)));
  random.shuffle(std::span<std::uint32_t>(order));
  return order;
}

void SampleBuffer::reserve(std::int64_t samples, std::int64_t pixels_per_sample) {
  const auto pixels = static_cast<std::size_t>(samples * pixels_per_sample);
  if (pixels_.size() < pixels) pixels_.resize(pixels);
  if (labels_.size() < static_cast<std::size_t>(samples)) labels_.resize(static_cast<std::size_t>(samples));
}

BatchReader::BatchReader(const Dataset& dataset, ImageShape shape) : shape_(shape) {
  const int height = static_cast<int>(dataset.training.height);
  const int width = static_cast<int>(dataset.training.width);
  scale_ = std::max(1, std::min(shape.height / height, shape.width / width));
  top_ = (shape.height - scale_ * height) / 2;
  left_ = (shape.width - scale_ * width) / 2;
  as_is_ = shape.height == height && shape.width == width;
  for (std::size_t value = 0; value < standardised_.size(); ++value) {
    const double scaled = static_cast<double>(value) / dataset.pixel_maximum;
    standardised_[value] = static_cast<float>((scaled - dataset.pixel_mean) / dataset.pixel_deviation);
  }
}

void BatchReader::read_image(const LabelledImages& split, std::int64_t index, float* out) const {
  const std::uint8_t* in = split.image(index);
  if (as_is_) {
    std::transform(in, in + split.pixels_per_image(), out, [this](std::uint8_t pixel) { return standardised_[pixel]; });
    return;
  }
  std::fill(out, out + static_cast<std::ptrdiff_t>(shape_.height) * shape_.width, standardised_[0]);
  for (int y = 0; y < static_cast<int>(split.height) * scale_; ++y) {
    const std::uint8_t* row = in + static_cast<std::ptrdiff_t>(y / scale_) * split.width;
    float* out_row = out + static_cast<std::ptrdiff_t>(top_ + y) * shape_.width + left_;
    for (int x = 0; x < static_cast<int>(split.width) * scale_; ++x) out_row[x] = standardised_[row[x / scale_]];
  }
}

Samples BatchReader::gather(const LabelledImages& split, std::span<const std::uint32_t> indices,
                            SampleBuffer& buffer) const {
  const std::int64_t pixels = std::int64_t{shape_.height} * shape_.width;
  buffer.reserve(static_cast<std::int64_t>(indices.size()), pixels);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    read_image(split, indices[i], buffer.pixels() + static_cast<std::int64_t>(i) * pixels);
    buffer.labels()[i] = split.labels[indices[i]];
  }
  return {static_cast<std::int64_t>(indices.size()), buffer.pixels(), buffer.labels(), {}};
}

Samples BatchReader::gather_range(const LabelledImages& split, std::int64_t begin, std::int64_t count,
                                  SampleBuffer& buffer) const {
  const std::int64_t pixels = std::int64_t{shape_.height} * shape_.width;
  buffer.reserve(count, pixels);
  for (std::int64_t i = 0; i < count; ++i) {
    read_image(split, begin + i, buffer.pixels() + i * pixels);
    buffer.labels()[i] = split.labels[static_cast<std::size_t>(begin + i)];
  }
  return {count, buffer.pixels(), buffer.labels(), {}};
}

}  // namespace tandem::actors
