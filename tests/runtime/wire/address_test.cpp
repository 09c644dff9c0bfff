#include "runtime/wire/address.hpp"

#include <doctest/doctest.h>

namespace tandem::runtime {
namespace {

TEST_CASE("a host and a port are read, IPv6 in brackets, and written back the same") {
  struct Good {
    const char *text, *host;
    std::uint16_t port;
  };
  for (const Good& good : {Good{"localhost:7077", "localhost", 7077}, Good{"127.0.0.1:0", "127.0.0.1", 0},
                           Good{"[::1]:65535", "::1", 65535}, Good{"head.example.org:1", "head.example.org", 1}}) {
    INFO(good.text);
    const auto parsed = parse_host_port(good.text);
    REQUIRE(parsed);
    CHECK(parsed->host == good.host);
    CHECK(parsed->port == good.port);
    CHECK(parsed->text() == good.text);
  }
}

TEST_CASE("what is no host and port is refused by an error that quotes it") {
  for (const char* bad : {"", "localhost", "localhost:", ":80", "localhost:http", "localhost:65536", "localhost:-1",
                          "localhost: 1", "::1:80", "[::1]", "[]:80", "[::1:80", "::1]:80", "a b:80", "a/b:80"}) {
    INFO(bad);
    const auto parsed = parse_host_port(bad);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code() == ErrorCode::invalid_argument);
    CHECK(parsed.error().message().starts_with(std::string("'").append(bad).append("'")));
  }
}

TEST_CASE("an address needs the scheme that is expected") {
  const auto parsed = parse_address("tcp:localhost:1", "tcp");
  REQUIRE(parsed);
  CHECK(parsed->rest == "localhost:1");
  for (const char* bad : {"", "tcp", "tcp:", "unix:x", "localhost:1"}) CHECK_FALSE(parse_address(bad, "tcp"));
}

}  // namespace
}  // namespace tandem::runtime
