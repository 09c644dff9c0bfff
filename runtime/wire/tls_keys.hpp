/// TLS keys from the cluster's token: TLS 1.3 with an external pre-shared key (RFC 8446 §2.2), no certificates.
#pragma once

#include <openssl/ssl.h>

#include <array>
#include <string_view>

#include "runtime/base/result.hpp"

namespace tandem::runtime {

inline constexpr std::size_t kTlsKeyBytes = 32;
using TlsKey = std::array<unsigned char, kTlsKeyBytes>;

/// Apart from what proves the token in the greeting, so that neither tells anything about the other.
[[nodiscard]] TlsKey derive_tls_key(std::string_view token);

/// Makes `context` speak TLS 1.3 only, with `key` and nothing else: a peer without the key cannot finish the handshake,
/// and no certificate is ever accepted in its place. `key` must live as long as the context.
[[nodiscard]] Result<> use_tls_key(SSL_CTX* context, const TlsKey& key);

/// Whether a finished handshake was made with the key. To be checked on both sides before a byte is sent.
[[nodiscard]] bool made_with_key(const SSL* connection) noexcept;

}  // namespace tandem::runtime
