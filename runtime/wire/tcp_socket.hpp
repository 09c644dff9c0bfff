/// TCP sockets, listening and connected, for the transports that run over them. Private to them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/base/unique_function.hpp"
#include "runtime/wire/address.hpp"
#include "runtime/wire/socket_stream.hpp"

namespace tandem::runtime {

using TcpSocket = StrandSocket<asio::ip::tcp>;
using OnTcpSocket = UniqueFunction<void(Result<TcpSocket>)>;

/// Where a connection may lead.
enum class Reach { loopback, anywhere };

/// Calls `on_socket` for each connection until the listener is destroyed. The listener's address begins with `scheme`.
/// Blocks while a host's name is looked up. Errors: already_exists, the port is taken; permission_denied, the host is
/// beyond `reach`; not_found, the host has no address.
[[nodiscard]] Result<std::unique_ptr<Listener>> listen_tcp(asio::io_context& context, const std::string& scheme,
                                                           HostPort target, Reach reach,
                                                           std::function<void(TcpSocket)> on_socket);

/// Tries all addresses of the host, one after another, within limits::kConnectDeadline.
void connect_tcp(asio::io_context& context, HostPort target, Reach reach, OnTcpSocket on_connected);

}  // namespace tandem::runtime
