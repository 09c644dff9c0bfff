#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "tools/display/progress_display.hpp"
#include "tools/limits.hpp"

namespace tandem::tools {
namespace {

class BackgroundDisplay final : public ProgressDisplay {
 public:
  explicit BackgroundDisplay(std::unique_ptr<ProgressDisplay> shown) : shown_(std::move(shown)) {
    // The thread takes no signals: they are for whoever waits for them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { show(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~BackgroundDisplay() override { close(); }

  void on_snapshot(const actors::StudySnapshot& snapshot) override { add(snapshot); }
  void say(std::string_view line) override { add(std::string(line)); }

  void close() override {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    const std::lock_guard joining(joining_);
    if (thread_.joinable()) thread_.join();
    shown_->close();
  }

 private:
  using Item = std::variant<std::string, actors::StudySnapshot>;

  void add(Item item) {
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return;
      if (waiting_.size() >= limits::kDisplayQueue) waiting_.pop_front();
      waiting_.push_back(std::move(item));
    }
    changed_.notify_all();
  }

  void show() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const Item item = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      if (const auto* line = std::get_if<std::string>(&item)) {
        shown_->say(*line);
      } else {
        shown_->on_snapshot(std::get<actors::StudySnapshot>(item));
      }
      lock.lock();
    }
  }

  std::unique_ptr<ProgressDisplay> shown_;
  std::mutex mutex_, joining_;
  std::condition_variable changed_;
  std::deque<Item> waiting_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<ProgressDisplay> make_background_display(std::unique_ptr<ProgressDisplay> shown) {
  return std::make_unique<BackgroundDisplay>(std::move(shown));
}

}  // namespace tandem::tools
