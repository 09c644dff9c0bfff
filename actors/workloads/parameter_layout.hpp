/// ParameterLayout: where each tensor of a model lies in its one flat array of floats.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tandem::actors {

struct ParameterBlock {
  std::string name;
  std::vector<std::int64_t> shape;
  std::int64_t fan_in = 1;  ///< inputs of one unit: sets the scale of the initial values
  std::int64_t offset = 0;
  std::int64_t count = 0;
};

class ParameterLayout {
 public:
  /// Appends a tensor; each begins on a cache line.
  void add(std::string name, std::vector<std::int64_t> shape, std::int64_t fan_in);

  [[nodiscard]] const std::vector<ParameterBlock>& blocks() const noexcept { return blocks_; }
  /// Floats of the flat array, gaps included.
  [[nodiscard]] std::int64_t flat_size() const noexcept { return flat_size_; }
  /// Parameters, without gaps.
  [[nodiscard]] std::int64_t parameter_count() const noexcept;

  /// Uniform in ±1/√fan_in, as LibTorch's layers begin; each tensor has a random stream of its own.
  void initialise(std::span<float> flat, std::uint64_t seed) const;

 private:
  std::vector<ParameterBlock> blocks_;
  std::int64_t flat_size_ = 0;
};

}  // namespace tandem::actors
