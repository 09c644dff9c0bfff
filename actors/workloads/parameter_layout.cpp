#include "actors/workloads/parameter_layout.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "runtime/base/random.hpp"

namespace tandem::actors {

namespace {
constexpr std::int64_t kAlignmentFloats = 16;
}

void ParameterLayout::add(std::string name, std::vector<std::int64_t> shape, std::int64_t fan_in) {
  ParameterBlock block;
  block.name = std::move(name);
  block.count = std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  block.shape = std::move(shape);
  block.fan_in = fan_in;
  block.offset = flat_size_;
  flat_size_ += (block.count + kAlignmentFloats - 1) / kAlignmentFloats * kAlignmentFloats;
  blocks_.push_back(std::move(block));
}

std::int64_t ParameterLayout::parameter_count() const noexcept {
  std::int64_t count = 0;
  for (const ParameterBlock& block : blocks_) count += block.count;
  return count;
}

void ParameterLayout::initialise(std::span<float> flat, std::uint64_t seed) const {
  std::fill(flat.begin(), flat.end(), 0.0F);
  for (const ParameterBlock& block : blocks_) {
    Random random(mix_seed(seed, block.name));
    const double bound = 1.0 / std::sqrt(static_cast<double>(block.fan_in));
    for (float& value : flat.subspan(static_cast<std::size_t>(block.offset), static_cast<std::size_t>(block.count))) {
      value = static_cast<float>((2 * random.uniform() - 1) * bound);
    }
  }
}

}  // namespace tandem::actors
