/// SpawnOptions: how an actor is named, bounded and supervised.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/clock.hpp"
#include "runtime/base/limits.hpp"

namespace tandem::runtime {

enum class Restart {
  none,        ///< an exception out of a handler ends the actor
  on_failure,  ///< the factory makes it anew behind the same reference; its mailbox is kept
};

struct SpawnOptions {
  std::string name;  ///< empty: none; else unique in the runtime and found by `lookup`
  std::uint32_t mailbox_messages = limits::kMailboxMessages;
  std::uint64_t mailbox_bytes = limits::kMailboxBytes;
  Restart restart = Restart::none;
  int max_restarts = limits::kRestarts;  ///< within `restart_window`; one more failure ends the actor
  Duration restart_window = limits::kRestartWindow;
  Duration restart_backoff = limits::kRestartBackoff;  ///< doubled with each restart in the window
  Duration stop_deadline = limits::kStopDeadline;      ///< for `hold_stop`
};

}  // namespace tandem::runtime
