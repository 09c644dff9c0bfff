/// LeaseTable: which processors and how much memory of one node are lent to whom. Pure. No processor is lent twice, and
/// never more memory than there is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "runtime/base/result.hpp"

namespace tandem::runtime {

/// A processor (hardware thread) and what it shares with others.
struct ProcessorPlace {
  int processor = 0;  ///< the operating system's number
  int core = 0;       ///< physical core
  int cache = 0;      ///< last-level cache
  int numa_node = 0;
};

struct Lease {
  std::uint64_t id = 0;  ///< never 0, never used again
  std::vector<int> processors;
  std::int64_t memory_bytes = 0;
};

class LeaseTable {
 public:
  LeaseTable(std::vector<ProcessorPlace> places, std::int64_t memory_bytes);

  /// Whether such a lease could be had if nothing else were lent. Error infeasible names what is lent in all.
  [[nodiscard]] Result<> check_possible(int processors, std::int64_t memory_bytes) const;

  /// One thread of each of as many cores that nobody uses, if there are so many in one NUMA node, below one cache where
  /// it can be; else both threads of such cores; else threads beside those of others. Among caches or NUMA nodes that
  /// would do, the one that has the fewest left. nullopt: not now.
  [[nodiscard]] std::optional<Lease> acquire(int processors, std::int64_t memory_bytes);

  /// Ends a lease. False when there is none of that number: it was ended before.
  bool release(std::uint64_t id);

  [[nodiscard]] int processors() const noexcept { return static_cast<int>(places_.size()); }
  [[nodiscard]] int free_processors() const noexcept { return free_processors_; }
  [[nodiscard]] std::int64_t memory_bytes() const noexcept { return memory_bytes_; }
  [[nodiscard]] std::int64_t free_memory_bytes() const noexcept { return free_memory_bytes_; }
  [[nodiscard]] const std::map<std::uint64_t, Lease>& leases() const noexcept { return leases_; }

 private:
  struct Place {
    ProcessorPlace where;
    int rank = 0;  ///< among the processors of its core
    bool lent = false;
  };
  using Choice = std::vector<std::size_t>;  // indices into places_

  enum class Sharing { none, own_core, any };
  [[nodiscard]] Choice choose(std::size_t processors) const;
  [[nodiscard]] Choice candidates(Sharing sharing) const;
  [[nodiscard]] Choice tightest_group(const Choice& candidates, int ProcessorPlace::*group_of,
                                      std::size_t processors) const;

  std::vector<Place> places_;
  std::int64_t memory_bytes_;
  int free_processors_;
  std::int64_t free_memory_bytes_;
  std::map<std::uint64_t, Lease> leases_;
  std::uint64_t next_id_ = 1;
};

}  // namespace tandem::runtime
