/// UnixTransport: streams over Unix sockets, on the threads of an Asio context. Addresses are "unix:PATH".
#pragma once

#include <memory>

#include "runtime/wire/transport.hpp"

namespace asio {
class io_context;
}

namespace tandem::runtime {

/// `context` outlives the transport; the streams must be gone, or the context stopped, before it ends.
/// Sockets are made with mode 0600. A listener removes its socket file when destroyed, and a left-over one at its
/// start.
[[nodiscard]] std::unique_ptr<Transport> make_unix_transport(asio::io_context& context);

}  // namespace tandem::runtime
