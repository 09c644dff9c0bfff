/// Down: what the watchers of an actor are told, exactly once and after its last message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/actor/actor_ref.hpp"

namespace tandem::runtime {

enum class DownCause : std::uint16_t {
  stopped,  ///< asked to, or of its own will; also: was not alive when it was to be watched
  failed,   ///< an exception left one of its handlers
  killed,   ///< by order, or because it held up its stop beyond the deadline
  out_of_memory,
  node_lost,   ///< the connection to its node ended; it may live on there
  lease_lost,  ///< the cores it ran on were taken back
};
inline constexpr std::uint16_t kDownCauses = 6;

[[nodiscard]] std::string_view to_string(DownCause cause) noexcept;

struct Down {
  ActorRef ref;
  DownCause cause = DownCause::stopped;
  std::string detail;
};

}  // namespace tandem::runtime
