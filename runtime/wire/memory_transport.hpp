/// MemoryNetwork: streams between nodes of one process, for simulation and tests. Single-threaded: everything runs on
/// the executor it was given. Addresses are "memory:NAME".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/wire/transport.hpp"

namespace tandem::runtime {

class MemoryStream;

class MemoryNetwork {
 public:
  /// Runs a task after a delay, on behalf of a node, and not at all once that node is gone.
  using Execute = std::function<void(std::uint64_t node, Duration delay, UniqueFunction<void()>)>;
  /// How long the next bytes take from one node to another, and how many at most arrive together.
  struct Conditions {
    Duration latency{};
    std::size_t chunk_bytes = SIZE_MAX;
  };
  using Weather = std::function<Conditions(std::uint64_t from, std::uint64_t to)>;

  MemoryNetwork(Execute execute, Weather weather);
  /// Drops the reads under way. Tasks that it has handed out must be gone.
  ~MemoryNetwork();

  /// What a node sees of the network. Must not outlive it.
  [[nodiscard]] std::unique_ptr<Transport> transport(std::uint64_t node);
  /// Breaks every connection between the two, as a reset does. Returns how many there were.
  std::size_t cut(std::uint64_t a, std::uint64_t b);
  /// Breaks every connection of a node and forgets its listeners.
  void remove(std::uint64_t node);

 private:
  friend class MemoryTransport;
  friend class MemoryListener;
  friend class MemoryStream;
  struct Listening {
    std::uint64_t node = 0;
    std::shared_ptr<Transport::OnStream> on_stream;
  };

  Execute execute_;
  Weather weather_;
  std::map<std::string, Listening> listening_;
  std::vector<std::weak_ptr<MemoryStream>> streams_;  // in order of their making, both ends
};

}  // namespace tandem::runtime
