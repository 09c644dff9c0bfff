/// Hello: the fixed-layout greeting before any Cap'n Proto. Both sides prove that they hold the token by an HMAC over
/// both greetings, and learn each other's node and incarnation. schemas/WIRE.md describes it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/base/result.hpp"

namespace tandem::runtime {

inline constexpr std::size_t kNonceBytes = 32;
inline constexpr std::size_t kHelloBytes = 72;
inline constexpr std::size_t kProofBytes = 32;
inline constexpr std::uint16_t kProtocolVersion = 1;

using HelloBytes = std::array<std::byte, kHelloBytes>;
using Proof = std::array<std::byte, kProofBytes>;

/// What a stream is for. The side that connects says it.
enum class Purpose : std::uint32_t {
  messages = 1,   ///< what actors say to each other
  heartbeat = 2,  ///< signs of life
  objects = 3,    ///< bulk data
};
[[nodiscard]] std::string_view to_string(Purpose purpose) noexcept;

struct Hello {
  std::uint16_t version = kProtocolVersion;
  std::uint16_t features = 0;  ///< none yet; a receiver ignores bits it does not know
  Purpose purpose = Purpose::messages;
  std::uint64_t node = 0;
  std::uint64_t incarnation = 0;
  std::uint64_t epoch = 0;  ///< of the session; 0 where there is no head
  std::array<std::byte, kNonceBytes> nonce{};
};

[[nodiscard]] HelloBytes encode_hello(const Hello& hello);
/// Refuses a wrong magic or version, an unknown purpose, and node 0.
[[nodiscard]] Result<Hello> decode_hello(std::span<const std::byte, kHelloBytes> bytes);

/// Of the side that connected or of the side that accepted: one cannot be shown as the other's.
enum class ProofRole : std::uint8_t { initiator = 1, acceptor = 2 };
[[nodiscard]] Proof make_proof(std::string_view token, ProofRole role, const HelloBytes& initiator,
                               const HelloBytes& acceptor);
/// In constant time.
[[nodiscard]] bool equal_proofs(const Proof& a, const Proof& b) noexcept;

/// Random bytes from the operating system's generator, for nonces.
void secure_random(std::span<std::byte> into);

}  // namespace tandem::runtime
