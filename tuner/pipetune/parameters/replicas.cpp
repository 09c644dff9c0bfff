#include "tuner/pipetune/limits.hpp"
#include "tuner/pipetune/parameters/builtin.hpp"
#include "tuner/pipetune/parameters/integers.hpp"

namespace tandem::tuner {

namespace {

class Replicas final : public SystemParameter {
 public:
  std::string_view name() const noexcept override { return "replicas"; }
  std::string_view summary() const noexcept override { return "workers that share each batch, chunk by chunk"; }
  bool live() const noexcept override { return true; }
  std::vector<Value> values(const LeaseSize& lease, std::int64_t) const override { return halvings(lease.cores); }
  Value lease_default(const LeaseSize&) const override { return std::int64_t{1}; }
  Result<> check(const Value& value) const override { return check_integer(name(), value, 1, limits::kMaxSystemCores); }
};

}  // namespace

const SystemParameter& replicas_parameter() {
  static const Replicas parameter;
  return parameter;
}

}  // namespace tandem::tuner
