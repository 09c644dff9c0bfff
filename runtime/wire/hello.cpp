#include "runtime/wire/hello.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <cstring>
#include <stdexcept>
#include <vector>

namespace tandem::runtime {
namespace {

constexpr std::uint64_t kMagic = 0x0a6d65646e61540dULL;  // "\rTandem\n": text tools and line-ending filters break it

constexpr std::size_t kMagicAt = 0, kVersionAt = 8, kFeaturesAt = 10, kPurposeAt = 12, kNodeAt = 16,
                      kIncarnationAt = 24, kEpochAt = 32, kNonceAt = 40;
static_assert(kNonceAt + kNonceBytes == kHelloBytes);

template <class T>
T load(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}
template <class T>
void store(HelloBytes& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

}  // namespace

std::string_view to_string(Purpose purpose) noexcept {
  switch (purpose) {
    case Purpose::messages:
      return "messages";
    case Purpose::heartbeat:
      return "heartbeat";
    case Purpose::objects:
      return "objects";
  }
  return "";
}

HelloBytes encode_hello(const Hello& hello) {
  HelloBytes bytes{};
  store(bytes, kMagicAt, kMagic);
  store(bytes, kVersionAt, hello.version);
  store(bytes, kFeaturesAt, hello.features);
  store(bytes, kPurposeAt, static_cast<std::uint32_t>(hello.purpose));
  store(bytes, kNodeAt, hello.node);
  store(bytes, kIncarnationAt, hello.incarnation);
  store(bytes, kEpochAt, hello.epoch);
  std::memcpy(bytes.data() + kNonceAt, hello.nonce.data(), kNonceBytes);
  return bytes;
}

Result<Hello> decode_hello(std::span<const std::byte, kHelloBytes> bytes) {
  if (load<std::uint64_t>(bytes, kMagicAt) != kMagic) {
    return fail(ErrorCode::data_loss, "greeting: the peer does not speak Tandem's protocol");
  }
  Hello hello;
  hello.version = load<std::uint16_t>(bytes, kVersionAt);
  if (hello.version != kProtocolVersion) {
    return fail(ErrorCode::failed_precondition, "greeting: the peer speaks version {}, this node {}", hello.version,
                kProtocolVersion);
  }
  hello.features = load<std::uint16_t>(bytes, kFeaturesAt);
  hello.purpose = load<Purpose>(bytes, kPurposeAt);
  if (to_string(hello.purpose).empty()) {
    return fail(ErrorCode::failed_precondition, "greeting: a stream for unknown purpose {}",
                static_cast<std::uint32_t>(hello.purpose));
  }
  hello.node = load<std::uint64_t>(bytes, kNodeAt);
  hello.incarnation = load<std::uint64_t>(bytes, kIncarnationAt);
  hello.epoch = load<std::uint64_t>(bytes, kEpochAt);
  std::memcpy(hello.nonce.data(), bytes.data() + kNonceAt, kNonceBytes);
  if (hello.node == 0) return fail(ErrorCode::data_loss, "greeting: node 0 is no node");
  return hello;
}

Proof make_proof(std::string_view token, ProofRole role, const HelloBytes& initiator, const HelloBytes& acceptor) {
  constexpr std::string_view kContext = "tandem-hello-1";
  std::vector<unsigned char> message(kContext.begin(), kContext.end());
  message.push_back(static_cast<unsigned char>(role));
  for (const HelloBytes* hello : {&initiator, &acceptor}) {
    const auto* begin = reinterpret_cast<const unsigned char*>(hello->data());
    message.insert(message.end(), begin, begin + hello->size());
  }
  Proof proof;
  unsigned length = 0;
  HMAC(EVP_sha256(), token.data(), static_cast<int>(token.size()), message.data(), message.size(),
       reinterpret_cast<unsigned char*>(proof.data()), &length);
  if (length != kProofBytes) throw std::runtime_error("HMAC-SHA256 failed");
  return proof;
}

bool equal_proofs(const Proof& a, const Proof& b) noexcept { return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

void secure_random(std::span<std::byte> into) {
  if (RAND_bytes(reinterpret_cast<unsigned char*>(into.data()), static_cast<int>(into.size())) != 1) {
    throw std::runtime_error("the operating system gave no random bytes");
  }
}

}  // namespace tandem::runtime
