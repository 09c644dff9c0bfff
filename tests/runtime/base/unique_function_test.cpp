#include "runtime/base/unique_function.hpp"

#include <doctest/doctest.h>

#include <array>
#include <memory>

namespace tandem {
namespace {

/// Counts how many live copies of it there are.
struct Counted {
  explicit Counted(int* live) : live_(live) { ++*live_; }
  Counted(Counted&& other) noexcept : live_(other.live_) { ++*live_; }
  Counted(const Counted& other) : live_(other.live_) { ++*live_; }
  ~Counted() { --*live_; }
  int* live_;
};

}  // namespace

TEST_CASE("a unique function owns what only moves") {
  UniqueFunction<int(int)> add = [kept = std::make_unique<int>(40)](int x) { return *kept + x; };
  UniqueFunction<int(int)> moved = std::move(add);
  CHECK_FALSE(static_cast<bool>(add));
  CHECK(moved(2) == 42);
}

TEST_CASE("what a unique function holds is destroyed once, whether it fits inside or not") {
  int live = 0;
  {
    UniqueFunction<int()> small = [counted = Counted(&live)] { return *counted.live_; };
    UniqueFunction<int()> large = [counted = Counted(&live), ballast = std::array<int, 64>{}] {
      return *counted.live_ + ballast[0];
    };
    CHECK(live == 2);
    UniqueFunction<int()> other = std::move(large);
    small = std::move(other);
    CHECK(live == 1);
    CHECK(small() == 1);
    small = nullptr;
    CHECK(live == 0);
  }
  CHECK(live == 0);
}

TEST_CASE("arguments are forwarded, not copied") {
  UniqueFunction<int(std::unique_ptr<int>)> take = [](std::unique_ptr<int> given) { return *given; };
  CHECK(take(std::make_unique<int>(7)) == 7);
}

}  // namespace tandem
