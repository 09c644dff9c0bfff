#include "runtime/wire/unix_transport.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "runtime/wire/address.hpp"
#include "runtime/wire/socket_stream.hpp"

namespace tandem::runtime {
namespace {

using Protocol = asio::local::stream_protocol;

class UnixListener final : public Listener {
 public:
  UnixListener(std::shared_ptr<SocketAccepting<Protocol>> accepting, std::string path)
      : accepting_(std::move(accepting)), path_(std::move(path)), address_("unix:" + path_) {}
  ~UnixListener() override {
    accepting_->close();
    ::unlink(path_.c_str());
  }
  const std::string& address() const noexcept override { return address_; }

 private:
  std::shared_ptr<SocketAccepting<Protocol>> accepting_;
  std::string path_, address_;
};

class UnixTransport final : public Transport {
 public:
  explicit UnixTransport(asio::io_context& context) : context_(context) {}

  Result<std::unique_ptr<Listener>> listen(const std::string& text, OnStream on_stream) override {
    const auto address = parse_address(text, "unix");
    if (!address) return forward_error(address);
    if (auto checked = check_path(address->rest); !checked) return forward_error(checked);
    auto accepting = std::make_shared<SocketAccepting<Protocol>>(
        context_, [on_stream = std::move(on_stream)](StrandSocket<Protocol> socket) {
          on_stream(std::make_shared<SocketStream<StrandSocket<Protocol>>>(std::move(socket)));
        });
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
    auto& acceptor = accepting->acceptor();
    acceptor.open(Protocol(), code);
    if (!code) ::fchmod(acceptor.native_handle(), S_IRUSR | S_IWUSR);  // so that the file is never open to others
    if (!code) acceptor.bind(Protocol::endpoint(address->rest), code);
    if (!code) acceptor.listen(asio::socket_base::max_listen_connections, code);
    if (code) return fail(socket_error(code).code(), "cannot listen at {}: {}", address->rest, code.message());
    ::chmod(address->rest.c_str(), S_IRUSR | S_IWUSR);
    accepting->start();
    return std::unique_ptr<Listener>(std::make_unique<UnixListener>(std::move(accepting), address->rest));
  }

  void connect(const std::string& text, OnStream on_connected) override {
    auto address = parse_address(text, "unix");
    Result<> checked = address ? check_path(address->rest) : Result<>(forward_error(address));
    if (!checked) {
      return post_error(context_, std::move(on_connected), checked.error());
    }
    auto socket = std::make_shared<StrandSocket<Protocol>>(asio::make_strand(context_));
    socket->async_connect(
        Protocol::endpoint(address->rest),
        [socket, path = address->rest, on_connected = std::move(on_connected)](const asio::error_code& code) {
          if (code) {
            return on_connected(fail(socket_error(code).code(), "cannot connect to {}: {}", path, code.message()));
          }
          on_connected(std::make_shared<SocketStream<StrandSocket<Protocol>>>(std::move(*socket)));
        });
  }

  void after(Duration delay, UniqueFunction<void()> then) override { run_after(context_, delay, std::move(then)); }

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
