/// What the runtime's tests share: a way to wait for a condition without sleeping, and a scriptable actor.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/actor/runtime.hpp"
#include "tests/runtime/actor/messages.capnp.h"

namespace tandem::runtime {

/// Far beyond what anything here takes; reached only by a defect.
inline constexpr Duration kPatience = std::chrono::seconds(60);

/// A log of events that other threads can wait on.
class Record {
 public:
  void add(std::string event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
    changed_.notify_all();
  }
  /// Waits until there are `count`, and returns them all.
  std::vector<std::string> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPatience, [&] { return events_.size() >= count; });
    return events_;
  }
  [[nodiscard]] std::vector<std::string> all() {
    const std::lock_guard lock(mutex_);
    return events_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> events_;
};

/// Opens once; closed until then.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

/// An actor whose behaviour the test writes; its services are public.
class Scripted : public Actor {
 public:
  struct Script {
    std::function<void(Scripted&)> start;
    std::function<void(Scripted&, const Down&)> down;
    std::function<void(Scripted&)> stop;
  };
  explicit Scripted(Script script) : script_(std::move(script)) {}

  using Actor::after;
  using Actor::ask;
  using Actor::cancel;
  using Actor::clock;
  using Actor::demonitor;
  using Actor::hold_stop;
  using Actor::monitor;
  using Actor::on;
  using Actor::release_stop;
  using Actor::runtime;
  using Actor::self;
  using Actor::send;
  using Actor::stop;

 protected:
  void on_start() override {
    if (script_.start) script_.start(*this);
  }
  void on_down(const Down& down) override {
    if (script_.down) script_.down(*this, down);
  }
  void on_stop() override {
    if (script_.stop) script_.stop(*this);
  }

 private:
  Script script_;
};

inline ActorRef spawn_scripted(Runtime& runtime, std::function<void(Scripted&)> start, SpawnOptions options = {}) {
  return runtime.spawn<Scripted>(std::move(options), Scripted::Script{std::move(start), {}, {}});
}

inline Outgoing<test::Ping> ping(std::int64_t number, const std::string& text = "") {
  auto message = make_message<test::Ping>();
  message->setNumber(number);
  if (!text.empty()) message->setText(text.c_str());
  return message;
}
inline Outgoing<test::Pong> pong(std::int64_t number) {
  auto message = make_message<test::Pong>();
  message->setNumber(number);
  return message;
}

/// Answers every Ping with its number plus one.
inline void answer_pings(Scripted& actor) {
  actor.on<test::Ping>([](test::Ping::Reader question, Incoming& in) { in.reply(pong(question.getNumber() + 1)); });
}

inline RuntimeOptions options(std::uint64_t node = 1, int threads = 2) {
  RuntimeOptions made;
  made.node = node;
  made.threads = threads;
  made.token = "a token";
  return made;
}

}  // namespace tandem::runtime
