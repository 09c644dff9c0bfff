#include "runtime/wire/tcp_transport.hpp"

#include <utility>
#include <vector>

#include "runtime/base/limits.hpp"
#include "runtime/wire/address.hpp"
#include "runtime/wire/socket_stream.hpp"

namespace tandem::runtime {
namespace {

using Protocol = asio::ip::tcp;
using Resolver = asio::ip::basic_resolver<Protocol, SocketStrand>;
using Timer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, SocketStrand>;

/// Frames leave when they are written, and a peer whose machine is gone is noticed some day even without heartbeats.
void prepare_socket(StrandSocket<Protocol>& socket) {
  asio::error_code ignored;
  socket.set_option(Protocol::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
}

Result<> check_loopback(const Protocol::endpoint& endpoint, const std::string& text) {
  if (endpoint.address().is_loopback()) return {};
  return fail(ErrorCode::permission_denied,
              "tcp:{} is {}, off this machine: an unencrypted connection must not leave it; allowed: 127.0.0.1, "
              "[::1], localhost",
              text, endpoint.address().to_string());
}

Result<HostPort> parse_tcp(const std::string& text) {
  const auto address = parse_address(text, "tcp");
  if (!address) return forward_error(address);
  return parse_host_port(address->rest);
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
  Connecting(asio::io_context& context, HostPort target, Transport::OnStream tell)
      : strand_(asio::make_strand(context)),
        target_(std::move(target)),
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
        self->finish(fail(ErrorCode::deadline_exceeded, "cannot connect to tcp:{}: no answer", self->target_.text()));
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
    if (auto checked = check_loopback(endpoint, target_.text()); !checked) return finish(forward_error(checked));
    asio::error_code ignored;
    socket_.close(ignored);
    socket_.async_connect(endpoint, [self = shared_from_this()](const asio::error_code& code) {
      if (code) return self->try_next(code);
      prepare_socket(self->socket_);
      self->finish(std::make_shared<SocketStream<Protocol>>(std::move(self->socket_)));
    });
  }

  [[nodiscard]] Result<std::shared_ptr<Stream>> refused(const asio::error_code& code) const {
    return fail(socket_error(code).code(), "cannot connect to tcp:{}: {}", target_.text(), code.message());
  }

  /// The first result counts; what else is under way ends.
  void finish(Result<std::shared_ptr<Stream>> result) {
    const auto tell = std::exchange(tell_, nullptr);
    if (!tell) return;
    asio::error_code ignored;
    deadline_.cancel();
    resolver_.cancel();
    if (!result) socket_.close(ignored);
    tell(std::move(result));
  }

  SocketStrand strand_;
  HostPort target_;
  Transport::OnStream tell_;
  Resolver resolver_;
  StrandSocket<Protocol> socket_;
  Timer deadline_;
  std::vector<Protocol::endpoint> endpoints_;
  std::size_t tried_ = 0;
};

class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(asio::io_context& context) : context_(context) {}

  Result<std::unique_ptr<Listener>> listen(const std::string& text, OnStream on_stream) override {
    auto target = parse_tcp(text);
    if (!target) return forward_error(target);
    const auto endpoint = resolve_own(*target);
    if (!endpoint) return forward_error(endpoint);
    if (auto checked = check_loopback(*endpoint, target->text()); !checked) return forward_error(checked);
    auto accepting = std::make_shared<SocketAccepting<Protocol>>(context_, std::move(on_stream));
    accepting->prepare = prepare_socket;
    asio::error_code code;
    auto& acceptor = accepting->acceptor();
    acceptor.open(endpoint->protocol(), code);
    if (!code) acceptor.set_option(asio::socket_base::reuse_address(true), code);
    if (!code) acceptor.bind(*endpoint, code);
    if (!code) acceptor.listen(asio::socket_base::max_listen_connections, code);
    if (!code) target->port = acceptor.local_endpoint(code).port();
    if (code == asio::error::address_in_use) {
      return fail(ErrorCode::already_exists, "cannot listen at tcp:{}: another process does", target->text());
    }
    if (code) return fail(socket_error(code).code(), "cannot listen at tcp:{}: {}", target->text(), code.message());
    accepting->start();
    return std::unique_ptr<Listener>(std::make_unique<TcpListener>(std::move(accepting), "tcp:" + target->text()));
  }

  void connect(const std::string& text, OnStream on_connected) override {
    auto target = parse_tcp(text);
    if (target && target->port == 0) target = fail(ErrorCode::invalid_argument, "cannot connect to port 0: {}", text);
    if (!target) return post_error(context_, std::move(on_connected), target.error());
    std::make_shared<Connecting>(context_, std::move(*target), std::move(on_connected))->start();
  }

  void after(Duration delay, UniqueFunction<void()> then) override { run_after(context_, delay, std::move(then)); }

 private:
  /// Blocks while a name is looked up.
  static Result<Protocol::endpoint> resolve_own(const HostPort& target) {
    asio::io_context own;
    Protocol::resolver resolver(own);
    asio::error_code code;
    const auto found = resolver.resolve(target.host, std::to_string(target.port), Protocol::resolver::passive, code);
    if (!code && found.begin() != found.end()) return found.begin()->endpoint();
    return fail(ErrorCode::not_found, "cannot listen at tcp:{}: {}", target.text(),
                code ? code.message() : "the host has no address");
  }

  asio::io_context& context_;
};

}  // namespace

std::unique_ptr<Transport> make_tcp_transport(asio::io_context& context) {
  return std::make_unique<TcpTransport>(context);
}

}  // namespace tandem::runtime
