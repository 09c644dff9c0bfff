#include "runtime/actor/down.hpp"

namespace tandem::runtime {

std::string_view to_string(DownCause cause) noexcept {
  switch (cause) {
    case DownCause::stopped:
      return "stopped";
    case DownCause::failed:
      return "failed";
    case DownCause::killed:
      return "killed";
    case DownCause::out_of_memory:
      return "out_of_memory";
    case DownCause::node_lost:
      return "node_lost";
    case DownCause::lease_lost:
      return "lease_lost";
  }
  return "unknown";
}

}  // namespace tandem::runtime
