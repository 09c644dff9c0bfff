#include <string>

#include "tuner/pipetune/parameters/builtin.hpp"
#include "tuner/space/value_text.hpp"

namespace tandem::tuner {

namespace {

class Allocator final : public SystemParameter {
 public:
  std::string_view name() const noexcept override { return "allocator"; }
  std::string_view summary() const noexcept override {
    return "default: the C library's; retain: blocks are kept for the next step, which saves page faults";
  }
  bool live() const noexcept override { return true; }
  std::vector<Value> values(const LeaseSize&, std::int64_t) const override {
    return {std::string("default"), std::string("retain")};
  }
  Value lease_default(const LeaseSize&) const override { return std::string("default"); }
  Result<> check(const Value& value) const override {
    const auto* text = std::get_if<std::string>(&value);
    if (text != nullptr && (*text == "default" || *text == "retain")) return {};
    return fail(ErrorCode::invalid_argument, "allocator = {}: must be \"default\" or \"retain\"", to_text(value));
  }
};

}  // namespace

const SystemParameter& allocator_parameter() {
  static const Allocator parameter;
  return parameter;
}

}  // namespace tandem::tuner
