#include "runtime/base/clock.hpp"

#include <doctest/doctest.h>

namespace tandem {

TEST_CASE("a virtual clock moves only when it is told to, and its wall apart from its monotonic time") {
  VirtualClock clock;
  const auto begin = clock.now();
  const auto wall = clock.unix_nanoseconds();
  CHECK(clock.now() == begin);
  clock.advance_to(begin + std::chrono::seconds(3));
  CHECK(to_seconds(clock.now() - begin) == doctest::Approx(3.0));
  CHECK(clock.unix_nanoseconds() - wall == 3'000'000'000);
  clock.step_wall(std::chrono::hours(-1));
  CHECK(clock.now() - begin == std::chrono::seconds(3));
  CHECK(clock.unix_nanoseconds() - wall == 3'000'000'000 - 3'600'000'000'000);
}

TEST_CASE("the system's clock does not go backwards") {
  const SystemClock clock;
  auto before = clock.now();
  for (int i = 0; i < 1000; ++i) {
    const auto now = clock.now();
    REQUIRE(now >= before);
    before = now;
  }
}

TEST_CASE("seconds convert both ways") {
  CHECK(from_seconds(1.5) == std::chrono::milliseconds(1500));
  CHECK(to_seconds(std::chrono::milliseconds(250)) == doctest::Approx(0.25));
}

}  // namespace tandem
