/// Asio's TLS streams, apart from asio.hpp: only one file pays for OpenSSL's headers.
#pragma once

#include "runtime/wire/asio.hpp"
// After asio.hpp, which sets how Asio is built.
#include <asio/ssl/context.hpp>
#include <asio/ssl/stream.hpp>
