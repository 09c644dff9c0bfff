#include "runtime/wire/unix_transport.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

#include "runtime/base/limits.hpp"
#include "runtime/wire/address.hpp"
#include "runtime/wire/asio.hpp"

namespace tandem::runtime {
namespace {

using Protocol = asio::local::stream_protocol;
using Strand = asio::strand<asio::io_context::executor_type>;
using Socket = asio::basic_stream_socket<Protocol, Strand>;
using Acceptor = asio::basic_socket_acceptor<Protocol, Strand>;

Error to_error(const asio::error_code& code) {
  if (code == asio::error::eof) return {ErrorCode::unavailable, "the peer closed the connection"};
  if (code == asio::error::operation_aborted) return {ErrorCode::unavailable, "the connection was closed"};
  if (code == asio::error::access_denied) return {ErrorCode::permission_denied, code.message()};
  return {ErrorCode::unavailable, code.message()};
}

/// Every operation on the socket runs on its strand.
class UnixStream final : public Stream, public std::enable_shared_from_this<UnixStream> {
 public:
  explicit UnixStream(Socket socket) : socket_(std::move(socket)) {}

  void read(std::span<std::byte> into, Done done) override {
    asio::dispatch(socket_.get_executor(), [self = shared_from_this(), into, done = std::move(done)]() mutable {
      self->socket_.async_read_some(
          asio::buffer(into.data(), into.size()),
          [self, done = std::move(done)](const asio::error_code& code, std::size_t count) mutable {
            done(code ? Result<std::size_t>(tl::unexpected<Error>(to_error(code))) : Result<std::size_t>(count));
          });
    });
  }

  void write(std::span<const std::byte> bytes, Done done) override {
    asio::dispatch(socket_.get_executor(), [self = shared_from_this(), bytes, done = std::move(done)]() mutable {
      asio::async_write(
          self->socket_, asio::buffer(bytes.data(), bytes.size()),
          [self, done = std::move(done)](const asio::error_code& code, std::size_t count) mutable {
            done(code ? Result<std::size_t>(tl::unexpected<Error>(to_error(code))) : Result<std::size_t>(count));
          });
    });
  }

  void close() override {
    const auto self = weak_from_this().lock();
    if (!self) return;
    asio::dispatch(socket_.get_executor(), [self] {
      asio::error_code ignored;
      self->socket_.shutdown(Socket::shutdown_both, ignored);
      self->socket_.close(ignored);
    });
  }

 private:
  Socket socket_;
};

class UnixListener final : public Listener {
 public:
  /// The part that a pending accept keeps alive.
  struct Accepting : std::enable_shared_from_this<Accepting> {
    Accepting(asio::io_context& io, Transport::OnStream tell)
        : context(io), acceptor(asio::make_strand(io)), on_stream(std::move(tell)), retry(acceptor.get_executor()) {}

    void next() {
      acceptor.async_accept(asio::make_strand(context),
                            [self = shared_from_this()](const asio::error_code& code, auto socket) {
                              self->accepted(code, std::move(socket));
                            });
    }
    template <class Accepted>
    void accepted(const asio::error_code& code, Accepted socket) {
      if (code == asio::error::operation_aborted || !acceptor.is_open()) return;
      if (!code) {
        on_stream(std::make_shared<UnixStream>(Socket(std::move(socket))));
        return next();
      }
      // Out of descriptors, most likely: waiting is better than a busy loop or than deafness.
      retry.expires_after(std::chrono::milliseconds(100));
      retry.async_wait([self = shared_from_this()](const asio::error_code& stopped) {
        if (!stopped) self->next();
      });
    }

    asio::io_context& context;
    Acceptor acceptor;
    Transport::OnStream on_stream;
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Strand> retry;
  };

  UnixListener(std::shared_ptr<Accepting> accepting, std::string path)
      : accepting_(std::move(accepting)), path_(std::move(path)) {}
  ~UnixListener() override {
    asio::dispatch(accepting_->acceptor.get_executor(), [accepting = accepting_] {
      asio::error_code ignored;
      accepting->acceptor.close(ignored);
      accepting->retry.cancel();
    });
    ::unlink(path_.c_str());
  }

 private:
  std::shared_ptr<Accepting> accepting_;
  std::string path_;
};

class UnixTransport final : public Transport {
 public:
  explicit UnixTransport(asio::io_context& context) : context_(context) {}

  Result<std::unique_ptr<Listener>> listen(const std::string& text, OnStream on_stream) override {
    const auto address = parse_address(text, "unix");
    if (!address) return forward_error(address);
    if (auto checked = check_path(address->rest); !checked) return forward_error(checked);
    auto accepting = std::make_shared<UnixListener::Accepting>(context_, std::move(on_stream));
    struct stat found {};
    if (::lstat(address->rest.c_str(), &found) == 0) {
      if (!S_ISSOCK(found.st_mode)) {
        return fail(ErrorCode::already_exists, "cannot listen at {}: a file that is no socket is there", address->rest);
      }
      if (answers(address->rest)) {
        return fail(ErrorCode::already_exists, "cannot listen at {}: another process does", address->rest);
      }
      ::unlink(address->rest.c_str());
    }
    asio::error_code code;
    auto& acceptor = accepting->acceptor;
    acceptor.open(Protocol(), code);
    if (!code) ::fchmod(acceptor.native_handle(), S_IRUSR | S_IWUSR);  // so that the file is never open to others
    if (!code) acceptor.bind(Protocol::endpoint(address->rest), code);
    if (!code) acceptor.listen(asio::socket_base::max_listen_connections, code);
    if (code) return fail(to_error(code).code(), "cannot listen at {}: {}", address->rest, code.message());
    ::chmod(address->rest.c_str(), S_IRUSR | S_IWUSR);
    accepting->next();
    return std::unique_ptr<Listener>(std::make_unique<UnixListener>(std::move(accepting), address->rest));
  }

  void connect(const std::string& text, OnStream on_connected) override {
    auto address = parse_address(text, "unix");
    Result<> checked = address ? check_path(address->rest) : Result<>(forward_error(address));
    if (!checked) {
      asio::post(context_, [on_connected = std::move(on_connected), error = checked.error()] {
        on_connected(tl::unexpected<Error>(error));
      });
      return;
    }
    auto socket = std::make_shared<Socket>(asio::make_strand(context_));
    socket->async_connect(
        Protocol::endpoint(address->rest),
        [socket, path = address->rest, on_connected = std::move(on_connected)](const asio::error_code& code) {
          if (code) {
            return on_connected(fail(to_error(code).code(), "cannot connect to {}: {}", path, code.message()));
          }
          on_connected(std::make_shared<UnixStream>(std::move(*socket)));
        });
  }

  void after(Duration delay, UniqueFunction<void()> then) override {
    auto timer = std::make_shared<asio::steady_timer>(context_, delay);
    timer->async_wait([timer, then = std::move(then)](const asio::error_code& code) mutable {
      if (!code) then();
    });
  }

 private:
  static Result<> check_path(const std::string& path) {
    const std::size_t longest = sizeof(sockaddr_un::sun_path) - 1;
    if (path.size() <= longest) return {};
    return fail(ErrorCode::invalid_argument, "socket path {} has {} bytes; the system takes at most {}", path,
                path.size(), longest);
  }
  /// Whether a live process listens at the socket file.
  static bool answers(const std::string& path) {
    asio::io_context probe;
    Protocol::socket socket(probe);
    asio::error_code code;
    socket.connect(Protocol::endpoint(path), code);
    return !code;
  }

  asio::io_context& context_;
};

}  // namespace

std::unique_ptr<Transport> make_unix_transport(asio::io_context& context) {
  return std::make_unique<UnixTransport>(context);
}

}  // namespace tandem::runtime
