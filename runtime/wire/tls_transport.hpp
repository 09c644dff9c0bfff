/// TlsTransport: streams over TCP, encrypted by TLS 1.3 with a key from the cluster's token. Addresses are
/// "tls:HOST:PORT".
#pragma once

#include <memory>
#include <string>

#include "runtime/wire/transport.hpp"

namespace asio {
class io_context;
}

namespace tandem::runtime {

/// `context` outlives the transport; the streams must be gone, or the context stopped, before it ends.
/// As TcpTransport, but for any host. A peer without the token cannot connect: permission_denied. A handshake may take
/// limits::kHandshakeDeadline; at most limits::kUnauthenticatedConnections are under way at one listener, more are
/// closed at once. Without a token every address is refused with failed_precondition.
[[nodiscard]] std::unique_ptr<Transport> make_tls_transport(asio::io_context& context, const std::string& token);

}  // namespace tandem::runtime
