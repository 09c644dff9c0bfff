/// TcpTransport: streams over TCP, IPv4 and IPv6, on the threads of an Asio context. Addresses are "tcp:HOST:PORT".
#pragma once

#include <memory>

#include "runtime/wire/transport.hpp"

namespace asio {
class io_context;
}

namespace tandem::runtime {

/// `context` outlives the transport; the streams must be gone, or the context stopped, before it ends.
/// A host may be a name or an address; `connect` tries all it stands for, one after another, within
/// limits::kConnectDeadline. Streams are not encrypted, so hosts off the loopback are refused, for listening and for
/// connecting, with permission_denied. Port 0 listens at a free port.
[[nodiscard]] std::unique_ptr<Transport> make_tcp_transport(asio::io_context& context);

}  // namespace tandem::runtime
