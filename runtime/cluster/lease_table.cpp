#include "runtime/cluster/lease_table.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/byte_size.hpp"

namespace tandem::runtime {

LeaseTable::LeaseTable(std::vector<ProcessorPlace> places, std::int64_t memory_bytes)
    : memory_bytes_(memory_bytes), free_processors_(static_cast<int>(places.size())), free_memory_bytes_(memory_bytes) {
  std::map<int, int> threads_of_core;
  for (const ProcessorPlace& place : places) places_.push_back({place, threads_of_core[place.core]++, false});
}

Result<> LeaseTable::check_possible(int processors, std::int64_t memory_bytes) const {
  if (processors < 1 || processors > this->processors()) {
    return fail(ErrorCode::infeasible, "{} cores asked for; {} are lent", processors, this->processors());
  }
  if (memory_bytes < 0 || memory_bytes > memory_bytes_) {
    return fail(ErrorCode::infeasible, "{} of memory asked for; {} are lent", format_byte_size(memory_bytes),
                format_byte_size(memory_bytes_));
  }
  return {};
}

std::optional<Lease> LeaseTable::acquire(int processors, std::int64_t memory_bytes) {
  if (processors < 1 || memory_bytes < 0) return std::nullopt;
  if (processors > free_processors_ || memory_bytes > free_memory_bytes_) return std::nullopt;
  const Choice choice = choose(static_cast<std::size_t>(processors));
  Lease lease{next_id_++, {}, memory_bytes};
  for (int i = 0; i < processors; ++i) {
    Place& place = places_[choice[static_cast<std::size_t>(i)]];
    place.lent = true;
    lease.processors.push_back(place.where.processor);
  }
  free_processors_ -= processors;
  free_memory_bytes_ -= memory_bytes;
  leases_.emplace(lease.id, lease);
  return lease;
}

bool LeaseTable::release(std::uint64_t id) {
  const auto found = leases_.find(id);
  if (found == leases_.end()) return false;
  for (const int processor : found->second.processors) {
    const auto place = std::find_if(places_.begin(), places_.end(),
                                    [&](const Place& each) { return each.where.processor == processor; });
    place->lent = false;
  }
  free_processors_ += static_cast<int>(found->second.processors.size());
  free_memory_bytes_ += found->second.memory_bytes;
  leases_.erase(found);
  return true;
}

LeaseTable::Choice LeaseTable::choose(std::size_t processors) const {
  for (const Sharing sharing : {Sharing::none, Sharing::own_core, Sharing::any}) {
    const Choice free = candidates(sharing);
    for (const auto group_of : {&ProcessorPlace::cache, &ProcessorPlace::numa_node}) {
      Choice group = tightest_group(free, group_of, processors);
      if (!group.empty()) return group;
    }
  }
  for (const Sharing sharing : {Sharing::none, Sharing::own_core}) {
    Choice free = candidates(sharing);
    if (free.size() >= processors) return free;
  }
  return candidates(Sharing::any);
}

/// Free processors, the first threads of cores before the second.
LeaseTable::Choice LeaseTable::candidates(Sharing sharing) const {
  std::map<int, int> lent_of_core;
  for (const Place& place : places_) lent_of_core[place.where.core] += place.lent ? 1 : 0;
  Choice free;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    if (place.lent || (sharing != Sharing::any && lent_of_core[place.where.core] > 0)) continue;
    if (sharing == Sharing::none && place.rank > 0) continue;
    free.push_back(i);
  }
  std::stable_sort(free.begin(), free.end(),
                   [this](std::size_t a, std::size_t b) { return places_[a].rank < places_[b].rank; });
  return free;
}

/// Of the groups that have enough, the one with the fewest; empty when none has.
LeaseTable::Choice LeaseTable::tightest_group(const Choice& candidates, int ProcessorPlace::*group_of,
                                              std::size_t processors) const {
  std::map<int, Choice> groups;
  for (const std::size_t index : candidates) groups[places_[index].where.*group_of].push_back(index);
  const Choice* best = nullptr;
  for (const auto& [number, group] : groups) {
    if (group.size() >= processors && (best == nullptr || group.size() < best->size())) best = &group;
  }
  return best != nullptr ? *best : Choice{};
}

}  // namespace tandem::runtime
