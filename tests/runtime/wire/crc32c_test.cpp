#include "runtime/wire/crc32c.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

#include "runtime/base/random.hpp"

namespace tandem::runtime {

TEST_CASE("the check value of CRC-32C") {
  const std::string_view digits = "123456789";
  CHECK(crc32c(std::as_bytes(std::span(digits))) == 0xe3069283U);
  CHECK(crc32c_portable(std::as_bytes(std::span(digits))) == 0xe3069283U);
}

TEST_CASE("the instruction and the tables agree, in one piece and in two") {
  Random random(1);
  std::vector<std::byte> bytes(300);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random.next());
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    const std::span<const std::byte> all(bytes.data(), length);
    REQUIRE(crc32c(all) == crc32c_portable(all));
    const std::size_t half = length / 3;
    REQUIRE(crc32c(all.subspan(half), crc32c(all.first(half))) == crc32c(all));
  }
}

}  // namespace tandem::runtime
