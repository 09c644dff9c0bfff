/// InterruptWatch: SIGINT and SIGTERM as calls on a thread of its own.
#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace tandem::tools {

/// While it lives, the first signal calls `first`, and any further one `again`. Make it before other threads start:
/// they inherit the blocked signals.
class InterruptWatch {
 public:
  InterruptWatch(std::function<void()> first, std::function<void()> again);
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

 private:
  sigset_t watched_{};
  sigset_t before_{};
  std::thread thread_;
};

}  // namespace tandem::tools
