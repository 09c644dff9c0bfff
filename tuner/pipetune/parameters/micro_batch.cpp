#include "tuner/pipetune/limits.hpp"
#include "tuner/pipetune/parameters/builtin.hpp"
#include "tuner/pipetune/parameters/integers.hpp"

namespace tandem::tuner {

namespace {

// Small enough that activations of common layers stay in the cache and malloc does not map them anew at each step,
// large enough that operators run at full speed.
constexpr std::int64_t kChunk = 128;

class MicroBatch final : public SystemParameter {
 public:
  std::string_view name() const noexcept override { return "micro_batch"; }
  std::string_view summary() const noexcept override {
    return "samples of one chunk; 0: the batch divided by the replicas";
  }
  bool live() const noexcept override { return true; }
  std::vector<Value> values(const LeaseSize&, std::int64_t batch_size) const override {
    std::vector<Value> values{std::int64_t{0}};
    if (batch_size > kChunk) values.emplace_back(kChunk);
    return values;
  }
  Value lease_default(const LeaseSize&) const override { return std::int64_t{0}; }
  Result<> check(const Value& value) const override { return check_integer(name(), value, 0, limits::kMaxMicroBatch); }
};

}  // namespace

const SystemParameter& micro_batch_parameter() {
  static const MicroBatch parameter;
  return parameter;
}

}  // namespace tandem::tuner
