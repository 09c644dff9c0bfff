#include "tuner/pipetune/limits.hpp"
#include "tuner/pipetune/parameters/builtin.hpp"
#include "tuner/pipetune/parameters/integers.hpp"

namespace tandem::tuner {

namespace {

class Cores final : public SystemParameter {
 public:
  std::string_view name() const noexcept override { return "cores"; }
  std::string_view summary() const noexcept override { return "cores the compute threads may run on, of those leased"; }
  bool live() const noexcept override { return true; }
  std::vector<Value> values(const LeaseSize& lease, std::int64_t) const override { return halvings(lease.cores); }
  Value lease_default(const LeaseSize& lease) const override { return std::int64_t{lease.cores}; }
  Result<> check(const Value& value) const override { return check_integer(name(), value, 1, limits::kMaxSystemCores); }
};

}  // namespace

const SystemParameter& cores_parameter() {
  static const Cores parameter;
  return parameter;
}

}  // namespace tandem::tuner
