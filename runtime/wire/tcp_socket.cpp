#include "runtime/wire/tcp_socket.hpp"

#include <utility>
#include <vector>

#include "runtime/base/limits.hpp"

namespace tandem::runtime {
namespace {

using Protocol = asio::ip::tcp;
using Resolver = asio::ip::basic_resolver<Protocol, SocketStrand>;

/// Frames leave when they are written, and a peer whose machine is gone is noticed some day even without heartbeats.
void prepare_socket(StrandSocket<Protocol>& socket) {
  asio::error_code ignored;
  socket.set_option(Protocol::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
}

Result<> check_reach(const Protocol::endpoint& endpoint, Reach reach, const std::string& text) {
  if (reach == Reach::anywhere || endpoint.address().is_loopback()) return {};
  return fail(ErrorCode::permission_denied,
              "tcp:{} is {}, off this machine: an unencrypted connection must not leave it; use tls:{}", text,
              endpoint.address().to_string(), text);
}

class TcpListener final : public Listener {
 public:
  TcpListener(std::shared_ptr<SocketAccepting<Protocol>> accepting, std::string address)
      : accepting_(std::move(accepting)), address_(std::move(address)) {}
  ~TcpListener() override { accepting_->close(); }
  const std::string& address() const noexcept override { return address_; }

 private:
  std::shared_ptr<SocketAccepting<Protocol>> accepting_;
  std::string address_;
};

/// One `connect`: resolves, then tries one endpoint after another until one answers or the deadline ends it.
/// Everything runs on one strand. Pending operations keep it alive.
class Connecting : public std::enable_shared_from_this<Connecting> {
 public:
  Connecting(asio::io_context& context, HostPort target, Reach reach, OnTcpSocket tell)
      : strand_(asio::make_strand(context)),
        target_(std::move(target)),
        reach_(reach),
        tell_(std::move(tell)),
        resolver_(strand_),
        socket_(strand_),
        deadline_(strand_) {}

  void start() {
    asio::dispatch(strand_, [self = shared_from_this()] { self->resolve(); });
  }

 private:
  void resolve() {
    deadline_.expires_after(limits::kConnectDeadline);
    deadline_.async_wait([self = shared_from_this()](const asio::error_code& stopped) {
      if (!stopped) {
        self->finish(fail(ErrorCode::deadline_exceeded, "cannot connect to {}: no answer", self->target_.text()));
      }
    });
    resolver_.async_resolve(
        target_.host, std::to_string(target_.port),
        [self = shared_from_this()](const asio::error_code& code, const Resolver::results_type& found) {
          if (code) return self->finish(self->refused(code));
          for (const auto& entry : found) self->endpoints_.push_back(entry.endpoint());
          self->try_next(asio::error::host_not_found);
        });
  }

  void try_next(const asio::error_code& last) {
    if (!tell_) return;
    if (tried_ == endpoints_.size()) return finish(refused(last));
    const auto endpoint = endpoints_[tried_++];
    if (auto checked = check_reach(endpoint, reach_, target_.text()); !checked) return finish(forward_error(checked));
    asio::error_code ignored;
    socket_.close(ignored);
    socket_.async_connect(endpoint, [self = shared_from_this()](const asio::error_code& code) {
      if (code) return self->try_next(code);
      prepare_socket(self->socket_);
      self->finish(std::move(self->socket_));
    });
  }

  [[nodiscard]] Result<TcpSocket> refused(const asio::error_code& code) const {
    return fail(socket_error(code).code(), "cannot connect to {}: {}", target_.text(), code.message());
  }

  /// The first result counts; what else is under way ends.
  void finish(Result<TcpSocket> result) {
    auto tell = std::exchange(tell_, nullptr);
    if (!tell) return;
    asio::error_code ignored;
    deadline_.cancel();
    resolver_.cancel();
    if (!result) socket_.close(ignored);
    tell(std::move(result));
  }

  SocketStrand strand_;
  HostPort target_;
  Reach reach_;
  OnTcpSocket tell_;
  Resolver resolver_;
  StrandSocket<Protocol> socket_;
  StrandTimer deadline_;
  std::vector<Protocol::endpoint> endpoints_;
  std::size_t tried_ = 0;
};

/// Blocks while a name is looked up.
Result<Protocol::endpoint> resolve_own(const HostPort& target) {
  asio::io_context own;
  Protocol::resolver resolver(own);
  asio::error_code code;
  const auto found = resolver.resolve(target.host, std::to_string(target.port), Protocol::resolver::passive, code);
  if (!code && found.begin() != found.end()) return found.begin()->endpoint();
  return fail(ErrorCode::not_found, "cannot listen at {}: {}", target.text(),
              code ? code.message() : "the host has no address");
}

}  // namespace

Result<std::unique_ptr<Listener>> listen_tcp(asio::io_context& context, const std::string& scheme, HostPort target,
                                             Reach reach, std::function<void(TcpSocket)> on_socket) {
  const auto endpoint = resolve_own(target);
  if (!endpoint) return forward_error(endpoint);
  if (auto checked = check_reach(*endpoint, reach, target.text()); !checked) return forward_error(checked);
  auto accepting =
      std::make_shared<SocketAccepting<Protocol>>(context, [on_socket = std::move(on_socket)](TcpSocket socket) {
        prepare_socket(socket);
        on_socket(std::move(socket));
      });
  asio::error_code code;
  auto& acceptor = accepting->acceptor();
  acceptor.open(endpoint->protocol(), code);
  if (!code) acceptor.set_option(asio::socket_base::reuse_address(true), code);
  if (!code) acceptor.bind(*endpoint, code);
  if (!code) acceptor.listen(asio::socket_base::max_listen_connections, code);
  if (!code) target.port = acceptor.local_endpoint(code).port();
  if (code == asio::error::address_in_use) {
    return fail(ErrorCode::already_exists, "cannot listen at {}:{}: another process does", scheme, target.text());
  }
  if (code) return fail(socket_error(code).code(), "cannot listen at {}:{}: {}", scheme, target.text(), code.message());
  accepting->start();
  return std::unique_ptr<Listener>(std::make_unique<TcpListener>(std::move(accepting), scheme + ":" + target.text()));
}

void connect_tcp(asio::io_context& context, HostPort target, Reach reach, OnTcpSocket on_connected) {
  std::make_shared<Connecting>(context, std::move(target), reach, std::move(on_connected))->start();
}

}  // namespace tandem::runtime
