#include "runtime/wire/scheme_transport.hpp"

#include <utility>

namespace tandem::runtime {
namespace {

class SchemeTransport final : public Transport {
 public:
  explicit SchemeTransport(std::map<std::string, std::unique_ptr<Transport>> transports)
      : transports_(std::move(transports)) {}

  Result<std::unique_ptr<Listener>> listen(const std::string& address, OnStream on_stream) override {
    const auto transport = of(address);
    if (!transport) return forward_error(transport);
    return (*transport)->listen(address, std::move(on_stream));
  }
  void connect(const std::string& address, OnStream on_connected) override {
    const auto transport = of(address);
    if (transport) return (*transport)->connect(address, std::move(on_connected));
    after({}, [tell = std::move(on_connected), error = transport.error()] { tell(tl::unexpected<Error>(error)); });
  }
  void after(Duration delay, UniqueFunction<void()> then) override {
    transports_.begin()->second->after(delay, std::move(then));
  }

 private:
  [[nodiscard]] Result<Transport*> of(const std::string& address) const {
    const auto found = transports_.find(address.substr(0, address.find(':')));
    if (found != transports_.end() && address.find(':') != std::string::npos) return found->second.get();
    std::string allowed;
    for (const auto& [scheme, transport] : transports_) allowed += (allowed.empty() ? "'" : ", '") + scheme + ":…'";
    return fail(ErrorCode::invalid_argument, "'{}' is no address here; expected one of {}", address, allowed);
  }

  std::map<std::string, std::unique_ptr<Transport>> transports_;
};

}  // namespace

std::unique_ptr<Transport> make_scheme_transport(std::map<std::string, std::unique_ptr<Transport>> transports) {
  return std::make_unique<SchemeTransport>(std::move(transports));
}

}  // namespace tandem::runtime
