#include "runtime/base/random.hpp"

#include <bit>
#include <cmath>
#include <numbers>
#include <random>

namespace tandem {

namespace {

std::uint64_t splitmix64(std::uint64_t& x) noexcept {
  x += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = x;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

std::uint64_t mix_seed(std::uint64_t seed, std::uint64_t value) noexcept {
  std::uint64_t x = seed;
  const std::uint64_t first = splitmix64(x);
  x = first ^ value;
  return splitmix64(x);
}

std::uint64_t mix_seed(std::uint64_t seed, std::string_view value) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const char c : value) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return mix_seed(seed, hash);
}

Random::Random(std::uint64_t seed) noexcept {
  for (auto& word : state_) word = splitmix64(seed);
}

std::uint64_t Random::next() noexcept {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::int64_t Random::uniform_int(std::int64_t low, std::int64_t high) noexcept {
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  if (range == 0) return static_cast<std::int64_t>(next());  // the whole domain
  const std::uint64_t threshold = (0 - range) % range;
  std::uint64_t drawn = next();
  while (drawn < threshold) drawn = next();
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + drawn % range);
}

double Random::normal() noexcept {
  const double u = 1.0 - uniform();
  const double v = uniform();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

std::uint64_t entropy_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) ^ device();
}

}  // namespace tandem
