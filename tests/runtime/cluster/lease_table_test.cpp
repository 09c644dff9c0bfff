#include "runtime/cluster/lease_table.hpp"

#include <doctest/doctest.h>

#include <set>

#include "runtime/base/random.hpp"

using namespace tandem;
using namespace tandem::runtime;

namespace {

/// Two NUMA nodes, two caches each, two cores below each cache, two threads a core: 16 processors.
std::vector<ProcessorPlace> two_sockets() {
  std::vector<ProcessorPlace> places;
  for (int thread = 0; thread < 2; ++thread) {
    for (int core = 0; core < 8; ++core) places.push_back({thread * 8 + core, core, core / 2, core / 4});
  }
  return places;
}

}  // namespace

TEST_CASE("whole cores come first, below one cache or in one NUMA node where they can be") {
  LeaseTable table(two_sockets(), 1000);
  CHECK(table.acquire(2, 0)->processors == std::vector<int>{0, 1});        // one cache
  CHECK(table.acquire(1, 0)->processors == std::vector<int>{2});           // the first of those that fit best
  CHECK(table.acquire(4, 0)->processors == std::vector<int>{4, 5, 6, 7});  // one NUMA node
  CHECK(table.acquire(2, 0)->processors == std::vector<int>{3, 11});       // both threads of the last free core
  CHECK(table.acquire(3, 0)->processors == std::vector<int>{8, 9, 10});    // beside others, in one NUMA node
  CHECK(table.acquire(4, 0)->processors == std::vector<int>{12, 13, 14, 15});
  CHECK_FALSE(table.acquire(1, 0));
}

TEST_CASE("what no NUMA node holds is taken from several") {
  LeaseTable table(two_sockets(), 1000);
  CHECK(table.acquire(9, 0)->processors == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(table.acquire(7, 0)->processors == std::vector<int>{9, 10, 11, 12, 13, 14, 15});
}

TEST_CASE("what was asked for and can never be had is told with what is lent") {
  LeaseTable table(two_sockets(), 4096);
  CHECK(table.check_possible(16, 4096));
  const auto cores = table.check_possible(17, 0);
  REQUIRE_FALSE(cores);
  CHECK(cores.error().code() == ErrorCode::infeasible);
  CHECK(cores.error().message() == "17 cores asked for; 16 are lent");
  CHECK_FALSE(table.check_possible(0, 0));
  CHECK_FALSE(table.check_possible(1, 4097));
  CHECK_FALSE(table.check_possible(1, -1));
}

TEST_CASE("a lease ends once") {
  LeaseTable table(two_sockets(), 100);
  const auto lease = table.acquire(3, 60);
  REQUIRE(lease);
  CHECK_FALSE(table.acquire(1, 41));
  CHECK(table.release(lease->id));
  CHECK_FALSE(table.release(lease->id));
  CHECK(table.free_processors() == 16);
  CHECK(table.free_memory_bytes() == 100);
}

TEST_CASE("whatever the order of leases, none overlaps and everything comes back") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    LeaseTable table(two_sockets(), 1000);
    std::vector<Lease> held;
    for (int step = 0; step < 100; ++step) {
      if (!held.empty() && random.uniform() < 0.4) {
        const auto index = static_cast<std::size_t>(random.uniform_int(0, static_cast<std::int64_t>(held.size()) - 1));
        REQUIRE(table.release(held[index].id));
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(index));
      } else {
        const auto cores = static_cast<int>(random.uniform_int(1, 7));
        const auto memory_bytes = random.uniform_int(0, 400);
        const bool fits = cores <= table.free_processors() && memory_bytes <= table.free_memory_bytes();
        const auto lease = table.acquire(cores, memory_bytes);
        REQUIRE(lease.has_value() == fits);
        if (lease) held.push_back(*lease);
      }
      std::set<int> lent;
      std::int64_t memory_bytes = 0;
      for (const Lease& lease : held) {
        for (const int processor : lease.processors) REQUIRE(lent.insert(processor).second);
        memory_bytes += lease.memory_bytes;
      }
      REQUIRE(table.free_processors() == 16 - static_cast<int>(lent.size()));
      REQUIRE(table.free_memory_bytes() == 1000 - memory_bytes);
    }
  }
}
