/// HostProvider: where a worker gets its warm trial hosts from. Processes in production, simulated nodes in tests.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/actor/actor_ref.hpp"
#include "runtime/base/result.hpp"

namespace tandem::actors {

/// What happens is told to the worker actor as HostReady, HostExited and HostsUnavailable messages.
class HostProvider {
 public:
  virtual ~HostProvider() = default;
  /// Before the first request.
  virtual void attach(runtime::ActorRef worker) = 0;
  /// One more warm host of the environment "lease" or "framework". HostReady follows, or HostsUnavailable.
  virtual Result<> request(const std::string& environment) = 0;
  /// The host ends, with cause out_of_memory, when it holds more than this.
  virtual Result<> limit_memory(std::int64_t pid, std::int64_t memory_bytes) = 0;
  /// Ends a host. HostExited follows when it is gone, and its cores are free.
  virtual void dismiss(std::int64_t pid) = 0;
};

}  // namespace tandem::actors
