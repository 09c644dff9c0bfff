/// Streams and listeners over any stream socket of Asio, for the transports of this folder. Private to them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "runtime/wire/asio.hpp"
#include "runtime/wire/transport.hpp"

namespace tandem::runtime {

using SocketStrand = asio::strand<asio::io_context::executor_type>;
template <class Protocol>
using StrandSocket = asio::basic_stream_socket<Protocol, SocketStrand>;

[[nodiscard]] inline Error socket_error(const asio::error_code& code) {
  if (code == asio::error::eof) return {ErrorCode::unavailable, "the peer closed the connection"};
  if (code == asio::error::operation_aborted) return {ErrorCode::unavailable, "the connection was closed"};
  if (code == asio::error::access_denied) return {ErrorCode::permission_denied, code.message()};
  return {ErrorCode::unavailable, code.message()};
}

/// `Socket`: a StrandSocket, or what encrypts one. Every operation on it runs on its strand.
template <class Socket>
class SocketStream final : public Stream, public std::enable_shared_from_this<SocketStream<Socket>> {
 public:
  explicit SocketStream(Socket socket) : socket_(std::move(socket)) {}

  void read(std::span<std::byte> into, Done done) override {
    asio::dispatch(socket_.get_executor(), [self = this->shared_from_this(), into, done = std::move(done)]() mutable {
      self->socket_.async_read_some(
          asio::buffer(into.data(), into.size()),
          [self, done = std::move(done)](const asio::error_code& code, std::size_t count) mutable {
            done(result_of(code, count));
          });
    });
  }

  void write(std::span<const std::byte> bytes, Done done) override {
    asio::dispatch(socket_.get_executor(), [self = this->shared_from_this(), bytes, done = std::move(done)]() mutable {
      asio::async_write(self->socket_, asio::buffer(bytes.data(), bytes.size()),
                        [self, done = std::move(done)](const asio::error_code& code, std::size_t count) mutable {
                          done(result_of(code, count));
                        });
    });
  }

  void close() override {
    const auto self = this->weak_from_this().lock();
    if (!self) return;
    asio::dispatch(socket_.get_executor(), [self] {
      asio::error_code ignored;
      self->socket_.lowest_layer().shutdown(asio::socket_base::shutdown_both, ignored);
      self->socket_.lowest_layer().close(ignored);
    });
  }

 private:
  static Result<std::size_t> result_of(const asio::error_code& code, std::size_t count) {
    if (code) return tl::unexpected<Error>(socket_error(code));
    return count;
  }

  Socket socket_;
};

using StrandTimer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, SocketStrand>;

/// Accepts until `close`; a pending accept keeps it alive.
template <class Protocol>
class SocketAccepting : public std::enable_shared_from_this<SocketAccepting<Protocol>> {
 public:
  using Acceptor = asio::basic_socket_acceptor<Protocol, SocketStrand>;

  using OnSocket = std::function<void(StrandSocket<Protocol>)>;

  SocketAccepting(asio::io_context& context, OnSocket on_socket)
      : context_(context),
        acceptor_(asio::make_strand(context)),
        on_socket_(std::move(on_socket)),
        retry_(acceptor_.get_executor()) {}

  /// To be opened, bound and listening before `start`.
  [[nodiscard]] Acceptor& acceptor() noexcept { return acceptor_; }
  void start() { next(); }
  void close() {
    asio::dispatch(acceptor_.get_executor(), [self = this->shared_from_this()] {
      asio::error_code ignored;
      self->acceptor_.close(ignored);
      self->retry_.cancel();
    });
  }

 private:
  void next() {
    acceptor_.async_accept(asio::make_strand(context_),
                           [self = this->shared_from_this()](const asio::error_code& code, auto socket) {
                             self->accepted(code, StrandSocket<Protocol>(std::move(socket)));
                           });
  }
  void accepted(const asio::error_code& code, StrandSocket<Protocol> socket) {
    if (code == asio::error::operation_aborted || !acceptor_.is_open()) return;
    if (!code) {
      on_socket_(std::move(socket));
      return next();
    }
    // Out of descriptors, most likely: waiting is better than a busy loop or than deafness.
    retry_.expires_after(std::chrono::milliseconds(100));
    retry_.async_wait([self = this->shared_from_this()](const asio::error_code& stopped) {
      if (!stopped) self->next();
    });
  }

  asio::io_context& context_;
  Acceptor acceptor_;
  OnSocket on_socket_;
  StrandTimer retry_;
};

/// Runs `then` after `delay` on the context's threads.
inline void run_after(asio::io_context& context, Duration delay, UniqueFunction<void()> then) {
  auto timer = std::make_shared<asio::steady_timer>(context, delay);
  timer->async_wait([timer, then = std::move(then)](const asio::error_code& code) mutable {
    if (!code) then();
  });
}

/// Tells an error as `connect` tells one: never inside the call.
inline void post_error(asio::io_context& context, Transport::OnStream tell, Error error) {
  asio::post(context, [tell = std::move(tell), error = std::move(error)] { tell(tl::unexpected<Error>(error)); });
}

}  // namespace tandem::runtime
