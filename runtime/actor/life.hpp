/// Life: what one actor owns beside its mailbox. Private to the runtime; touched in the actor's turns only.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "runtime/actor/actor.hpp"
#include "runtime/actor/deadline_table.hpp"

namespace tandem::runtime {

class Life {
 public:
  struct PendingAsk {
    UniqueFunction<void(Result<EnvelopePtr>)> on_reply;
    ActorRef target;
    std::uint64_t link = 0;  ///< connection it went over; 0: it stayed in this process
  };
  enum class Phase { running, waiting_to_restart, stopping };

  SpawnOptions options;
  std::function<std::unique_ptr<Actor>()> factory;  ///< empty: cannot be made anew
  std::unique_ptr<Actor> actor;
  ActorRef self;
  Logger log;
  bool hidden = false;  ///< one of the runtime's own

  Phase phase = Phase::running;
  bool stop_requested = false;
  std::string hold_reason;  ///< not empty: on_stop asked for time
  std::optional<MonotonicTime> stop_by;
  std::optional<MonotonicTime> restart_at;
  std::optional<MonotonicTime> armed;  ///< when the scheduler will wake the cell
  std::deque<MonotonicTime> restarts;  ///< within the window

  DeadlineTable<PendingAsk> asks;
  DeadlineTable<UniqueFunction<void()>> timers;
  std::set<ActorRef> watched;
  std::set<ActorRef> watchers;
};

}  // namespace tandem::runtime
