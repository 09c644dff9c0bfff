#include "runtime/wire/tls_keys.hpp"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cstring>
#include <memory>
#include <stdexcept>

namespace tandem::runtime {
namespace {

constexpr std::string_view kIdentity = "tandem-cluster-1";
/// TLS_AES_128_GCM_SHA256, the one suite every TLS 1.3 peer has.
constexpr std::array<unsigned char, 2> kSuite = {0x13, 0x01};
constexpr const char* kSuiteName = "TLS_AES_128_GCM_SHA256";

/// Where a context's key hangs. The "app data" are Asio's.
int key_index() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

const TlsKey* key_of(SSL* connection) {
  return static_cast<const TlsKey*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), key_index()));
}

/// A session as the pre-shared key of a handshake; null when OpenSSL cannot make one. The caller owns it.
SSL_SESSION* make_session(SSL* connection) {
  const SSL_CIPHER* suite = SSL_CIPHER_find(connection, kSuite.data());
  std::unique_ptr<SSL_SESSION, void (*)(SSL_SESSION*)> session(SSL_SESSION_new(), SSL_SESSION_free);
  const TlsKey* key = key_of(connection);
  if (!session || suite == nullptr || key == nullptr) return nullptr;
  if (SSL_SESSION_set1_master_key(session.get(), key->data(), key->size()) != 1 ||
      SSL_SESSION_set1_id_context(session.get(), reinterpret_cast<const unsigned char*>(kIdentity.data()),
                                  kIdentity.size()) != 1 ||
      SSL_SESSION_set_cipher(session.get(), suite) != 1 ||
      SSL_SESSION_set_protocol_version(session.get(), TLS1_3_VERSION) != 1) {
    return nullptr;
  }
  return session.release();
}

/// The client's side. After a retry request `digest` is that of the suite the server chose.
int offer_key(SSL* connection, const EVP_MD* digest, const unsigned char** identity, std::size_t* identity_bytes,
              SSL_SESSION** session) {
  *session = nullptr;
  *identity = reinterpret_cast<const unsigned char*>(kIdentity.data());
  *identity_bytes = kIdentity.size();
  if (digest != nullptr && EVP_MD_get_type(digest) != NID_sha256) return 1;  // no key for that suite
  *session = make_session(connection);
  return *session != nullptr ? 1 : 0;
}

/// The server's side: another identity gets no session, and then, without a certificate, no handshake.
int find_key(SSL* connection, const unsigned char* identity, std::size_t identity_bytes, SSL_SESSION** session) {
  *session = nullptr;
  if (std::string_view(reinterpret_cast<const char*>(identity), identity_bytes) != kIdentity) return 1;
  *session = make_session(connection);
  return *session != nullptr ? 1 : 0;
}

}  // namespace

TlsKey derive_tls_key(std::string_view token) {
  constexpr std::string_view kContext = "tandem-tls-psk-1";
  TlsKey key{};
  unsigned length = 0;
  HMAC(EVP_sha256(), token.data(), static_cast<int>(token.size()),
       reinterpret_cast<const unsigned char*>(kContext.data()), kContext.size(), key.data(), &length);
  if (length != key.size()) throw std::runtime_error("HMAC-SHA256 failed");
  return key;
}

Result<> use_tls_key(SSL_CTX* context, const TlsKey& key) {
  const bool set = SSL_CTX_set_ex_data(context, key_index(), const_cast<TlsKey*>(&key)) == 1 &&
                   SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1 &&
                   SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1 &&
                   SSL_CTX_set_ciphersuites(context, kSuiteName) == 1 && SSL_CTX_set_num_tickets(context, 0) == 1 &&
                   SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>(kIdentity.data()),
                                                  kIdentity.size()) == 1;
  if (!set) {
    return fail(ErrorCode::internal, "OpenSSL cannot be set up for TLS 1.3: {}",
                ERR_error_string(ERR_get_error(), nullptr));
  }
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_max_early_data(context, 0);
  // With the key no certificate is sent; verifying, with no authority trusted, makes sure none will do instead.
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_psk_use_session_callback(context, offer_key);
  SSL_CTX_set_psk_find_session_callback(context, find_key);
  return {};
}

bool made_with_key(const SSL* connection) noexcept {
  return SSL_version(connection) == TLS1_3_VERSION && SSL_session_reused(connection) == 1;
}

}  // namespace tandem::runtime
