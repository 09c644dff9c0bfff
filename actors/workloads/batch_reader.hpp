/// BatchReader: the order of samples in an epoch, and samples as standardised floats in the shape a model wants.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "actors/workloads/dataset.hpp"
#include "actors/workloads/model.hpp"

namespace tandem::actors {

/// A permutation of 0 … count − 1 that depends on the seed and the epoch alone: a resumed trial finds its place.
[[nodiscard]] std::vector<std::uint32_t> shuffled_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch);

/// A reused buffer for one slot.
class SampleBuffer {
 public:
  void reserve(std::int64_t samples, std::int64_t pixels_per_sample);
  float* pixels() noexcept { return pixels_.data(); }
  std::int64_t* labels() noexcept { return labels_.data(); }

 private:
  std::vector<float> pixels_;
  std::vector<std::int64_t> labels_;
};

/// Images smaller than the model wants are enlarged by a whole factor (each pixel repeated) and centred on background:
/// digits of 8 by 8 become 24 by 24 within LeNet-5's 28 by 28.
class BatchReader {
 public:
  /// `dataset` outlives the reader; its images fit into `shape`.
  BatchReader(const Dataset& dataset, ImageShape shape);

  /// Images `indices` of `split` into `buffer`.
  Samples gather(const LabelledImages& split, std::span<const std::uint32_t> indices, SampleBuffer& buffer) const;
  /// Images `begin` … `begin + count − 1`.
  Samples gather_range(const LabelledImages& split, std::int64_t begin, std::int64_t count, SampleBuffer& buffer) const;

 private:
  void read_image(const LabelledImages& split, std::int64_t index, float* out) const;

  ImageShape shape_;
  int scale_ = 1;
  int top_ = 0;
  int left_ = 0;
  bool as_is_ = true;  ///< neither enlarged nor framed
  std::array<float, 256> standardised_{};
};

}  // namespace tandem::actors
