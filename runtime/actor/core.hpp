/// Core: the inside of a Runtime: the table of cells, names, routes to other nodes. Private to the runtime.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/actor/cell.hpp"
#include "runtime/actor/node_links.hpp"
#include "runtime/actor/runtime.hpp"

namespace tandem::runtime {

class Core {
 public:
  Core(Runtime& runtime, RuntimeOptions options, RuntimePlatform platform);
  ~Core();

  [[nodiscard]] Runtime& runtime() noexcept { return runtime_; }
  [[nodiscard]] const RuntimeOptions& options() const noexcept { return options_; }
  [[nodiscard]] const Clock& clock() const noexcept { return *clock_; }
  [[nodiscard]] const Logger& log() const noexcept { return options_.logger; }
  [[nodiscard]] Scheduler& scheduler() noexcept { return *scheduler_; }
  [[nodiscard]] NodeLinks& links() noexcept { return *links_; }
  void trace(std::uint64_t event) const {
    if (platform_.trace) platform_.trace(event);
  }
  [[nodiscard]] bool traced() const noexcept { return static_cast<bool>(platform_.trace); }

  // ---- routes

  /// Sends an envelope whose target is set, to a cell or over a connection, whose number is returned (0: a cell).
  /// On an error the envelope is still the caller's.
  Result<std::uint64_t> route(EnvelopePtr& envelope, Lane lane);
  /// The same for one that came from another node: it must stay here.
  Result<> deliver_here(EnvelopePtr& envelope, Lane lane);
  /// Answers an ask with an error; it matters to nobody whether that arrives.
  void answer_error(ActorRef from, ActorRef asker, std::uint64_t ask_id, const Error& error);
  /// Tells a watcher; also of its own.
  void tell_down(ActorRef watcher, const Down& down);
  /// A connection has ended: every actor is told, in its mailbox, after what came over it.
  void link_lost(std::uint64_t link, NodeId node, const std::string& why);

  // ---- actors

  ActorRef spawn(SpawnOptions options, UniqueFunction<std::unique_ptr<Actor>()> make, Runtime::Factory factory,
                 bool hidden = false);
  [[nodiscard]] ActorRef lookup(std::string_view name) const;
  Result<> stop(ActorRef ref);
  Result<> kill(ActorRef ref, DownCause cause, std::string detail);
  [[nodiscard]] std::size_t actors() const;
  Result<> shutdown(Duration deadline);
  Result<EnvelopePtr> ask_blocking(ActorRef to, EnvelopePtr envelope, Duration deadline);
  [[nodiscard]] ActorRef gateway() const noexcept { return gateway_; }

  /// By a cell whose actor ends: first its name is free again, then it no longer counts.
  void free_name(const Life& life);
  void forget(const Life& life);
  /// By a cell that nothing refers to any more.
  void recycle(std::uint32_t index);
  void note_hold(std::uint64_t local, const std::string& reason);

 private:
  static constexpr std::size_t kChunkCells = 256;
  static constexpr std::size_t kChunks = (limits::kActors + kChunkCells - 1) / kChunkCells;
  using Chunk = std::array<std::unique_ptr<Cell>, kChunkCells>;

  struct Living {
    std::string name;
    std::string hold_reason;
    bool hidden = false;
  };

  [[nodiscard]] Cell* find(std::uint64_t local) const noexcept;
  Result<Cell*> free_cell_locked();
  [[nodiscard]] std::string blockers_locked() const;
  [[nodiscard]] std::size_t actors_locked() const { return living_.size() - hidden_; }
  Result<> push_urgent(ActorRef ref, EnvelopePtr envelope);

  Runtime& runtime_;
  const RuntimeOptions options_;
  const RuntimePlatform platform_;
  std::unique_ptr<Clock> own_clock_;
  const Clock* clock_ = nullptr;
  std::unique_ptr<std::atomic<Chunk*>[]> chunks_;
  std::unique_ptr<Scheduler> own_scheduler_;
  std::unique_ptr<Transport> own_transport_;
  Scheduler* scheduler_ = nullptr;
  std::unique_ptr<NodeLinks> links_;
  ActorRef gateway_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Chunk>> owned_chunks_;
  std::deque<std::uint32_t> free_;  // the longest free first, so that generations last
  std::uint32_t cells_ = 0;
  std::map<std::uint64_t, Living> living_;  // by local number, in order for reproducible runs
  std::unordered_map<std::string, ActorRef> names_;
  std::size_t hidden_ = 0;
  bool closing_ = false;
  std::atomic<bool> down_{false};  // nothing runs any more, nothing is delivered
};

}  // namespace tandem::runtime
