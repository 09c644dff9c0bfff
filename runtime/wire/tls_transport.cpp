#include "runtime/wire/tls_transport.hpp"

#include <atomic>
#include <utility>

#include "runtime/base/limits.hpp"
#include "runtime/wire/asio_ssl.hpp"
#include "runtime/wire/tcp_socket.hpp"
#include "runtime/wire/tls_keys.hpp"

namespace tandem::runtime {
namespace {

using TlsSocket = asio::ssl::stream<TcpSocket>;
using TlsStream = SocketStream<TlsSocket>;
using OnTlsSocket = UniqueFunction<void(Result<TlsSocket>)>;

/// What all streams of a transport share, and keep alive.
struct TlsContext {
  explicit TlsContext(const std::string& token)
      : key(derive_tls_key(token)), context(asio::ssl::context::tls), ready(use_tls_key(context.native_handle(), key)) {
    if (ready && token.empty()) ready = fail(ErrorCode::failed_precondition, "tls needs the cluster's token");
  }
  const TlsKey key;
  asio::ssl::context context;
  Result<> ready;
};

/// One handshake, on the socket's strand; pending operations keep it alive.
class Handshake : public std::enable_shared_from_this<Handshake> {
 public:
  Handshake(std::shared_ptr<TlsContext> tls, TcpSocket socket, OnTlsSocket tell)
      : tls_(std::move(tls)),
        socket_(std::move(socket), tls_->context),
        deadline_(socket_.get_executor()),
        tell_(std::move(tell)) {}

  void start(asio::ssl::stream_base::handshake_type side) {
    asio::dispatch(socket_.get_executor(), [self = shared_from_this(), side] { self->begin(side); });
  }

 private:
  void begin(asio::ssl::stream_base::handshake_type side) {
    deadline_.expires_after(limits::kHandshakeDeadline);
    deadline_.async_wait([self = shared_from_this()](const asio::error_code& stopped) {
      if (!stopped) self->finish(fail(ErrorCode::deadline_exceeded, "the peer did not finish its handshake in time"));
    });
    socket_.async_handshake(side, [self = shared_from_this()](const asio::error_code& code) {
      if (code) {
        return self->finish(fail(ErrorCode::permission_denied,
                                 "the peer does not hold the token, or does not speak TLS: {}", code.message()));
      }
      if (!made_with_key(self->socket_.native_handle())) {
        return self->finish(fail(ErrorCode::permission_denied, "the peer did not use the token"));
      }
      self->finish({});
    });
  }
  /// The first result counts.
  void finish(const Result<>& result) {
    auto tell = std::exchange(tell_, nullptr);
    if (!tell) return;
    deadline_.cancel();
    if (result) return tell(std::move(socket_));
    asio::error_code ignored;
    socket_.lowest_layer().close(ignored);
    tell(forward_error(result));
  }

  std::shared_ptr<TlsContext> tls_;
  TlsSocket socket_;
  StrandTimer deadline_;
  OnTlsSocket tell_;
};

class TlsTransport final : public Transport {
 public:
  TlsTransport(asio::io_context& context, const std::string& token)
      : context_(context), tls_(std::make_shared<TlsContext>(token)) {}

  Result<std::unique_ptr<Listener>> listen(const std::string& text, OnStream on_stream) override {
    auto target = parse_host_address(text, "tls");
    if (!target) return forward_error(target);
    if (!tls_->ready) return forward_error(tls_->ready);
    auto under_way = std::make_shared<std::atomic<std::size_t>>(0);
    return listen_tcp(context_, "tls", std::move(*target), Reach::anywhere,
                      [tls = tls_, under_way, tell = std::move(on_stream)](TcpSocket socket) {
                        if (under_way->fetch_add(1) >= limits::kUnauthenticatedConnections) {
                          under_way->fetch_sub(1);
                          return;  // and the socket closes
                        }
                        std::make_shared<Handshake>(tls, std::move(socket), [under_way, tell](Result<TlsSocket> made) {
                          under_way->fetch_sub(1);
                          if (!made) return tell(forward_error(made));
                          tell(std::make_shared<TlsStream>(std::move(*made)));
                        })->start(asio::ssl::stream_base::server);
                      });
  }

  void connect(const std::string& text, OnStream on_connected) override {
    auto target = parse_peer_address(text, "tls");
    if (target && !tls_->ready) target = forward_error(tls_->ready);
    if (!target) return post_error(context_, std::move(on_connected), target.error());
    connect_tcp(context_, std::move(*target), Reach::anywhere,
                [tls = tls_, text, tell = std::move(on_connected)](Result<TcpSocket> socket) {
                  if (!socket) return tell(forward_error(socket));
                  std::make_shared<Handshake>(tls, std::move(*socket), [tell, text](Result<TlsSocket> made) {
                    if (!made) return tell(fail(made.error().code(), "{}: {}", text, made.error().message()));
                    tell(std::make_shared<TlsStream>(std::move(*made)));
                  })->start(asio::ssl::stream_base::client);
                });
  }

  void after(Duration delay, UniqueFunction<void()> then) override { run_after(context_, delay, std::move(then)); }

 private:
  asio::io_context& context_;
  std::shared_ptr<TlsContext> tls_;
};

}  // namespace

std::unique_ptr<Transport> make_tls_transport(asio::io_context& context, const std::string& token) {
  return std::make_unique<TlsTransport>(context, token);
}

}  // namespace tandem::runtime
