#include "runtime/base/byte_size.hpp"

#include <doctest/doctest.h>

using namespace tandem;

TEST_CASE("sizes are read in powers of 1024") {
  struct Case {
    const char* text;
    std::int64_t bytes;
  };
  const Case cases[] = {{"0", 0},
                        {"4096", 4096},
                        {"1K", 1024},
                        {"512M", std::int64_t{512} << 20},
                        {"512MiB", std::int64_t{512} << 20},
                        {"512 MiB", std::int64_t{512} << 20},
                        {"1.5G", std::int64_t{3} << 29},
                        {"2g", std::int64_t{2} << 30},
                        {"3T", std::int64_t{3} << 40}};
  for (const auto& [text, bytes] : cases) {
    CAPTURE(text);
    const auto parsed = parse_byte_size(text);
    REQUIRE(parsed);
    CHECK(*parsed == bytes);
  }
}

TEST_CASE("what is no size is refused, with what is allowed") {
  for (const char* text : {"", " ", "M", "-1", "-1M", "1e3", "512MB", "512B", "1.5.2G", "1G2", "1  G", "nan", "inf",
                           "9999999999T", "1GiBx", "0x10"}) {
    CAPTURE(text);
    const auto parsed = parse_byte_size(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code() == ErrorCode::invalid_argument);
    CHECK(parsed.error().message().find("512M") != std::string::npos);
  }
}

TEST_CASE("sizes are written with the largest unit they fill") {
  CHECK(format_byte_size(0) == "0 bytes");
  CHECK(format_byte_size(1) == "1 byte");
  CHECK(format_byte_size(1023) == "1023 bytes");
  CHECK(format_byte_size(1024) == "1.0 KiB");
  CHECK(format_byte_size(std::int64_t{3} << 29) == "1.5 GiB");
  CHECK(format_byte_size(std::int64_t{5} << 40) == "5.0 TiB");
}
