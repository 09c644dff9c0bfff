/// AsioScheduler: turns on a pool of threads that also serve the sockets. Private to the runtime.
#pragma once

#include <memory>
#include <string>

#include "runtime/actor/scheduler.hpp"
#include "runtime/wire/transport.hpp"

namespace tandem::runtime {

/// A scheduler, and the transport on the same threads; destroyed in the reverse order of their members.
struct AsioPlatform {
  std::unique_ptr<Scheduler> scheduler;
  std::unique_ptr<Transport> transport;
};

[[nodiscard]] AsioPlatform make_asio_platform(int threads, const Clock& clock, const std::string& token);

}  // namespace tandem::runtime
