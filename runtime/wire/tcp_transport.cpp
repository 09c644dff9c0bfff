#include "runtime/wire/tcp_transport.hpp"

#include <utility>

#include "runtime/wire/tcp_socket.hpp"

namespace tandem::runtime {
namespace {

using TcpStream = SocketStream<TcpSocket>;

class TcpTransport final : public Transport {
 public:
  explicit TcpTransport(asio::io_context& context) : context_(context) {}

  Result<std::unique_ptr<Listener>> listen(const std::string& text, OnStream on_stream) override {
    auto target = parse_host_address(text, "tcp");
    if (!target) return forward_error(target);
    return listen_tcp(context_, "tcp", std::move(*target), Reach::loopback,
                      [on_stream = std::move(on_stream)](TcpSocket socket) {
                        on_stream(std::make_shared<TcpStream>(std::move(socket)));
                      });
  }

  void connect(const std::string& text, OnStream on_connected) override {
    auto target = parse_peer_address(text, "tcp");
    if (!target) return post_error(context_, std::move(on_connected), target.error());
    connect_tcp(context_, std::move(*target), Reach::loopback,
                [on_connected = std::move(on_connected)](Result<TcpSocket> socket) {
                  if (!socket) return on_connected(forward_error(socket));
                  on_connected(std::make_shared<TcpStream>(std::move(*socket)));
                });
  }

  void after(Duration delay, UniqueFunction<void()> then) override { run_after(context_, delay, std::move(then)); }

 private:
  asio::io_context& context_;
};

}  // namespace

std::unique_ptr<Transport> make_tcp_transport(asio::io_context& context) {
  return std::make_unique<TcpTransport>(context);
}

}  // namespace tandem::runtime
