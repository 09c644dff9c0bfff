#include "actors/workloads/session_state.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

namespace tandem::actors {
namespace {

SessionState example() {
  SessionState state;
  state.fingerprint = 0xFEDCBA9876543210;
  state.step_index = 17;
  state.epoch_samples = 160;
  state.epoch_loss = 1.0 / 3;
  state.optimizer_updates = 17;
  state.arrays = {{1.5F, -0.0F, std::numeric_limits<float>::infinity()}, {}, {2.0F}};
  return state;
}

TEST_CASE("a state reads back as it was written") {
  const auto read = read_state(write_state(example()));
  REQUIRE(read);
  CHECK(write_state(*read) == write_state(example()));
  CHECK(read->arrays == example().arrays);
  CHECK(read->epoch_loss == example().epoch_loss);
}

TEST_CASE("a state cut short anywhere is refused") {
  const std::string bytes = write_state(example());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto read = read_state(std::string_view(bytes).substr(0, length));
    REQUIRE_FALSE(read);
    CHECK(read.error().code() == ErrorCode::data_loss);
  }
  CHECK_FALSE(read_state(bytes + "x"));
}

TEST_CASE("a state with any bit turned is refused") {
  const std::string bytes = write_state(example());
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    REQUIRE_FALSE(read_state(damaged));
  }
}

}  // namespace
}  // namespace tandem::actors
