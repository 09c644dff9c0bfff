#include "tools/cli/interrupt_watch.hpp"

#include <pthread.h>

namespace tandem::tools {
namespace {

constexpr int kEndSignal = SIGUSR2;  // from the destructor to its own thread

void watch(const sigset_t& watched, const std::function<void()>& first, const std::function<void()>& again) {
  for (bool seen = false;;) {
    int signal = 0;
    if (sigwait(&watched, &signal) != 0) continue;
    if (signal == kEndSignal) return;
    if (seen) {
      again();
    } else {
      first();
    }
    seen = true;
  }
}

}  // namespace

InterruptWatch::InterruptWatch(std::function<void()> first, std::function<void()> again) {
  sigemptyset(&watched_);
  for (const int signal : {SIGINT, SIGTERM, kEndSignal}) sigaddset(&watched_, signal);
  pthread_sigmask(SIG_BLOCK, &watched_, &before_);
  thread_ = std::thread(
      [watched = watched_, first = std::move(first), again = std::move(again)] { watch(watched, first, again); });
}

InterruptWatch::~InterruptWatch() {
  pthread_kill(thread_.native_handle(), kEndSignal);
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace tandem::tools
