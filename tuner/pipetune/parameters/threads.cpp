#include "tuner/pipetune/limits.hpp"
#include "tuner/pipetune/parameters/builtin.hpp"
#include "tuner/pipetune/parameters/integers.hpp"

namespace tandem::tuner {

namespace {

class Threads final : public SystemParameter {
 public:
  std::string_view name() const noexcept override { return "threads"; }
  std::string_view summary() const noexcept override { return "threads inside one operator, of each replica"; }
  bool live() const noexcept override { return true; }
  std::vector<Value> values(const LeaseSize& lease, std::int64_t) const override { return halvings(lease.cores); }
  Value lease_default(const LeaseSize& lease) const override { return std::int64_t{lease.cores}; }
  Result<> check(const Value& value) const override { return check_integer(name(), value, 1, limits::kMaxSystemCores); }
};

}  // namespace

const SystemParameter& threads_parameter() {
  static const Threads parameter;
  return parameter;
}

}  // namespace tandem::tuner
