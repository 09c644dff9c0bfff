/// DeadlineTable: values with a deadline, taken by their number or when they are due. O(log n), no allocation once
/// warm.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/base/clock.hpp"

namespace tandem::runtime {

template <class Value>
class DeadlineTable {
 public:
  /// Never 0, and not used again for 2^32 insertions into the same place.
  using Id = std::uint64_t;

  Id insert(MonotonicTime when, Value value) {
    std::uint32_t index;
    if (free_.empty()) {
      index = static_cast<std::uint32_t>(entries_.size());
      entries_.emplace_back();
    } else {
      index = free_.back();
      free_.pop_back();
    }
    Entry& entry = entries_[index];
    entry.when = when;
    entry.order = ++inserted_;
    ++entry.generation;
    if (entry.generation == 0) ++entry.generation;
    entry.value.emplace(std::move(value));
    heap_.push_back(index);
    entry.position = static_cast<std::uint32_t>(heap_.size() - 1);
    sift_up(entry.position);
    return (Id{entry.generation} << 32) | index;
  }

  [[nodiscard]] Value* find(Id id) {
    const auto index = static_cast<std::uint32_t>(id);
    if (index >= entries_.size()) return nullptr;
    Entry& entry = entries_[index];
    return entry.value && entry.generation == static_cast<std::uint32_t>(id >> 32) ? &*entry.value : nullptr;
  }

  [[nodiscard]] std::optional<Value> take(Id id) {
    if (find(id) == nullptr) return std::nullopt;
    return remove(static_cast<std::uint32_t>(id));
  }

  [[nodiscard]] std::optional<MonotonicTime> next() const {
    if (heap_.empty()) return std::nullopt;
    return entries_[heap_.front()].when;
  }

  /// The earliest whose time has come; equal times in the order of their insertion.
  [[nodiscard]] std::optional<Value> take_due(MonotonicTime now) {
    if (heap_.empty() || entries_[heap_.front()].when > now) return std::nullopt;
    return remove(heap_.front());
  }

  /// The earliest for which `chosen` holds.
  template <class Predicate>
  [[nodiscard]] std::optional<Value> take_if(Predicate chosen) {
    std::optional<std::uint32_t> best;
    for (const std::uint32_t index : heap_) {
      if (chosen(*entries_[index].value) && (!best || before(index, *best))) best = index;
    }
    if (!best) return std::nullopt;
    return remove(*best);
  }

  [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }

  /// Destroys the values; they may touch the table meanwhile.
  void clear() {
    while (!heap_.empty()) (void)remove(heap_.back());
  }

 private:
  struct Entry {
    MonotonicTime when{};
    std::uint64_t order = 0;
    std::uint32_t generation = 0;
    std::uint32_t position = 0;
    std::optional<Value> value;
  };

  [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) const {
    const Entry& x = entries_[a];
    const Entry& y = entries_[b];
    return x.when != y.when ? x.when < y.when : x.order < y.order;
  }
  void place(std::uint32_t position, std::uint32_t index) {
    heap_[position] = index;
    entries_[index].position = position;
  }
  void sift_up(std::uint32_t position) {
    const std::uint32_t index = heap_[position];
    while (position > 0) {
      const std::uint32_t parent = (position - 1) / 2;
      if (!before(index, heap_[parent])) break;
      place(position, heap_[parent]);
      position = parent;
    }
    place(position, index);
  }
  void sift_down(std::uint32_t position) {
    const std::uint32_t index = heap_[position];
    const auto count = static_cast<std::uint32_t>(heap_.size());
    for (;;) {
      std::uint32_t child = 2 * position + 1;
      if (child >= count) break;
      if (child + 1 < count && before(heap_[child + 1], heap_[child])) ++child;
      if (!before(heap_[child], index)) break;
      place(position, heap_[child]);
      position = child;
    }
    place(position, index);
  }

  Value remove(std::uint32_t index) {
    const std::uint32_t position = entries_[index].position;
    const std::uint32_t moved = heap_.back();
    heap_.pop_back();
    if (moved != index) {
      place(position, moved);
      sift_up(position);
      sift_down(entries_[moved].position);
    }
    Value value = std::move(*entries_[index].value);
    entries_[index].value.reset();
    free_.push_back(index);
    return value;
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> heap_;
  std::uint64_t inserted_ = 0;
};

}  // namespace tandem::runtime
