#include "runtime/actor/asio_scheduler.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/base/limits.hpp"
#include "runtime/wire/asio.hpp"
#include "runtime/wire/scheme_transport.hpp"
#include "runtime/wire/tcp_transport.hpp"
#include "runtime/wire/tls_transport.hpp"
#include "runtime/wire/unix_transport.hpp"

namespace tandem::runtime {
namespace {

class AsioScheduler final : public Scheduler {
 public:
  AsioScheduler(int threads, const Clock& clock)
      : clock_(clock), context_(threads), work_(asio::make_work_guard(context_)), timer_(context_) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this] {
        Worker worker{this};
        current_worker = &worker;
        context_.run();
        current_worker = nullptr;
      });
    }
  }
  ~AsioScheduler() override { stop(); }

  [[nodiscard]] asio::io_context& context() noexcept { return context_; }

  void submit(Turn& turn) override {
    Worker* worker = current_worker;
    // Whom an actor has just woken runs next on the same thread, its message still in the cache; unless the actor is
    // known to take long, or another waits there already.
    if (worker != nullptr && worker->owner == this && worker->running != nullptr && worker->next == nullptr &&
        &turn != worker->running && !worker->running->slow()) {
      worker->next = &turn;
      return;
    }
    asio::post(context_, [this, &turn] { run(turn); });
  }

  void wake_at(Turn& turn, MonotonicTime when) override {
    const std::lock_guard lock(mutex_);
    forget_locked(turn);
    wakes_.insert({when, turn.turn_id(), &turn});
    when_[&turn] = when;
    arm_locked();
  }

  void cancel_wake(Turn& turn) override {
    const std::lock_guard lock(mutex_);
    forget_locked(turn);
  }

  void post(UniqueFunction<void()> task) override {
    asio::post(context_, [task = std::move(task)]() mutable { task(); });
  }

  [[nodiscard]] bool may_block() const noexcept override {
    return current_worker == nullptr || current_worker->owner != this;
  }

  void stop() override {
    work_.reset();
    context_.stop();
    for (auto& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

 private:
  struct Worker {
    AsioScheduler* owner;
    Turn* running = nullptr;
    Turn* next = nullptr;
  };
  static thread_local Worker* current_worker;

  void run(Turn& first) {
    Worker& worker = *current_worker;
    Turn* turn = &first;
    for (int hand_offs = 0; turn != nullptr; ++hand_offs) {
      worker.running = turn;
      turn->run_turn();
      worker.running = nullptr;
      turn = std::exchange(worker.next, nullptr);
      if (turn != nullptr && hand_offs == limits::kHandOffs) {
        asio::post(context_, [this, turn] { run(*turn); });
        return;
      }
    }
  }

  void forget_locked(Turn& turn) {
    const auto found = when_.find(&turn);
    if (found == when_.end()) return;
    wakes_.erase({found->second, turn.turn_id(), &turn});
    when_.erase(found);
  }

  void arm_locked() {
    if (wakes_.empty()) return;
    const MonotonicTime earliest = std::get<0>(*wakes_.begin());
    if (armed_ && *armed_ <= earliest) return;
    armed_ = earliest;
    timer_.expires_after(earliest - clock_.now());
    timer_.async_wait([this](const asio::error_code& code) {
      if (!code) fire();
    });
  }

  void fire() {
    std::vector<Turn*> due;
    {
      const std::lock_guard lock(mutex_);
      armed_.reset();
      const MonotonicTime now = clock_.now();
      while (!wakes_.empty() && std::get<0>(*wakes_.begin()) <= now) {
        Turn* turn = std::get<2>(*wakes_.begin());
        wakes_.erase(wakes_.begin());
        when_.erase(turn);
        due.push_back(turn);
      }
      arm_locked();
    }
    for (Turn* turn : due) turn->wake();
  }

  const Clock& clock_;
  asio::io_context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::vector<std::thread> threads_;

  std::mutex mutex_;
  asio::steady_timer timer_;
  std::set<std::tuple<MonotonicTime, std::uint64_t, Turn*>> wakes_;
  std::unordered_map<Turn*, MonotonicTime> when_;
  std::optional<MonotonicTime> armed_;
};

thread_local AsioScheduler::Worker* AsioScheduler::current_worker = nullptr;

}  // namespace

AsioPlatform make_asio_platform(int threads, const Clock& clock, const std::string& token) {
  auto scheduler = std::make_unique<AsioScheduler>(threads, clock);
  std::map<std::string, std::unique_ptr<Transport>> transports;
  transports["tcp"] = make_tcp_transport(scheduler->context());
  transports["tls"] = make_tls_transport(scheduler->context(), token);
  transports["unix"] = make_unix_transport(scheduler->context());
  return {std::move(scheduler), make_scheme_transport(std::move(transports))};
}

}  // namespace tandem::runtime
