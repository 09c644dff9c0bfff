/// Random: a small, portable, seeded generator (xoshiro256**, Blackman and Vigna 2018).
/// The same seed gives the same numbers with every compiler and library, unlike <random>'s distributions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace tandem {

/// Mixes `value` into `seed`: derives independent streams from one seed (splitmix64).
[[nodiscard]] std::uint64_t mix_seed(std::uint64_t seed, std::uint64_t value) noexcept;
[[nodiscard]] std::uint64_t mix_seed(std::uint64_t seed, std::string_view value) noexcept;

/// A value type; copy it to replay, `state()` it to persist.
class Random {
 public:
  using State = std::array<std::uint64_t, 4>;

  explicit Random(std::uint64_t seed) noexcept;
  explicit Random(const State& state) noexcept : state_(state) {}

  [[nodiscard]] const State& state() const noexcept { return state_; }

  std::uint64_t next() noexcept;
  /// Uniform in [0, 1).
  double uniform() noexcept;
  /// Uniform in [low, high], both inclusive, without modulo bias.
  std::int64_t uniform_int(std::int64_t low, std::int64_t high) noexcept;
  /// Standard normal (Box-Muller; the second half is dropped, so `state()` is the whole state).
  double normal() noexcept;

  template <class T>
  void shuffle(std::span<T> items) noexcept {
    for (std::size_t i = items.size(); i > 1; --i) {
      using std::swap;
      swap(items[i - 1], items[static_cast<std::size_t>(uniform_int(0, static_cast<std::int64_t>(i) - 1))]);
    }
  }

 private:
  State state_;
};

/// A seed from the operating system, for runs that name none. The caller records it.
[[nodiscard]] std::uint64_t entropy_seed();

}  // namespace tandem
