#include "runtime/wire/hello.hpp"

#include <doctest/doctest.h>

namespace tandem::runtime {
namespace {

Hello a_hello(std::uint64_t node) {
  Hello hello;
  hello.node = node;
  hello.incarnation = 5;
  hello.epoch = 6;
  secure_random(hello.nonce);
  return hello;
}

}  // namespace

TEST_CASE("a greeting comes back as it was written") {
  const Hello hello = a_hello(3);
  const auto back = decode_hello(encode_hello(hello));
  REQUIRE(back);
  CHECK(back->node == 3);
  CHECK(back->incarnation == 5);
  CHECK(back->epoch == 6);
  CHECK(back->nonce == hello.nonce);
}

TEST_CASE("a greeting with another magic, another version or no node is refused") {
  auto bytes = encode_hello(a_hello(3));
  bytes[0] ^= std::byte{1};
  CHECK_FALSE(decode_hello(bytes));
  Hello later = a_hello(3);
  later.version = kProtocolVersion + 1;
  const auto refused = decode_hello(encode_hello(later));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::failed_precondition);
  CHECK_FALSE(decode_hello(encode_hello(a_hello(0))));
}

TEST_CASE("a greeting says what the stream is for, and an unknown purpose is refused") {
  Hello hello = a_hello(3);
  for (const Purpose purpose : {Purpose::messages, Purpose::heartbeat, Purpose::objects}) {
    hello.purpose = purpose;
    const auto back = decode_hello(encode_hello(hello));
    REQUIRE(back);
    CHECK(back->purpose == purpose);
  }
  for (const std::uint32_t unknown : {0U, 4U, 0x10001U}) {
    hello.purpose = static_cast<Purpose>(unknown);
    const auto refused = decode_hello(encode_hello(hello));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == ErrorCode::failed_precondition);
  }
}

TEST_CASE("a proof depends on the token, the role and every byte of both greetings") {
  const auto a = encode_hello(a_hello(1)), b = encode_hello(a_hello(2));
  const Proof proof = make_proof("token", ProofRole::initiator, a, b);
  CHECK(equal_proofs(proof, make_proof("token", ProofRole::initiator, a, b)));
  CHECK_FALSE(equal_proofs(proof, make_proof("Token", ProofRole::initiator, a, b)));
  CHECK_FALSE(equal_proofs(proof, make_proof("token", ProofRole::acceptor, a, b)));
  CHECK_FALSE(equal_proofs(proof, make_proof("token", ProofRole::initiator, b, a)));
  for (std::size_t at = 0; at < kHelloBytes; ++at) {
    auto changed = b;
    changed[at] ^= std::byte{1};
    REQUIRE_FALSE(equal_proofs(proof, make_proof("token", ProofRole::initiator, a, changed)));
  }
}

}  // namespace tandem::runtime
