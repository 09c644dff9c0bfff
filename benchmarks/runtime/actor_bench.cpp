/// Throughput of actors in one process: ping-pong, ring, counting, and the blocking ask of a plain thread.
/// Usage: bench_actor [threads] [seconds per case]
#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/actor/runtime.hpp"

namespace tandem::runtime {
namespace {

/// Any small struct serves as a message.
using Note = schemas::ActorAddress;

Outgoing<Note> note(std::uint64_t number) {
  auto message = make_message<Note>();
  message->setNode(number);
  return message;
}

/// Passes a number on to the next actor, one less each time.
class Passer final : public Actor {
 public:
  explicit Passer(std::atomic<std::uint64_t>* handled) : handled_(handled) {}

 protected:
  void on_start() override {
    on<Note>([this](Note::Reader message, Incoming&) {
      if (message.getLocal() != 0) {
        next_ = from_address(message);
        return;
      }
      handled_->store(handled_->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      (void)send(next_, note(message.getNode()));
    });
  }

 private:
  std::atomic<std::uint64_t>* handled_;
  ActorRef next_;
};

class Counter final : public Actor {
 public:
  explicit Counter(std::atomic<std::uint64_t>* handled) : handled_(handled) {}

 protected:
  void on_start() override {
    on<Note>([this](Note::Reader, Incoming& in) {
      handled_->store(handled_->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      if (in.asked()) in.reply(note(1));
    });
  }

 private:
  std::atomic<std::uint64_t>* handled_;
};

double per_second(std::uint64_t count, const Clock& clock, MonotonicTime begun) {
  return static_cast<double>(count) / to_seconds(clock.now() - begun);
}

/// `tokens` messages run around a ring of `actors`.
double ring(int threads, int actors, int tokens, Duration length) {
  std::vector<std::atomic<std::uint64_t>> handled(static_cast<std::size_t>(actors));
  RuntimeOptions options;
  options.threads = threads;
  Runtime runtime(options);
  std::vector<ActorRef> refs;
  for (auto& count : handled) refs.push_back(runtime.spawn<Passer>({}, &count));
  for (std::size_t i = 0; i < refs.size(); ++i) {
    auto introduce = make_message<Note>();
    to_address(refs[(i + 1) % refs.size()], *introduce);
    (void)runtime.send(refs[i], std::move(introduce));
  }
  const auto begun = runtime.clock().now();
  for (int i = 0; i < tokens; ++i) (void)runtime.send(refs[static_cast<std::size_t>(i * actors / tokens)], note(1));
  std::this_thread::sleep_for(length);
  std::uint64_t total = 0;
  for (const auto& count : handled) total += count.load(std::memory_order_relaxed);
  return per_second(total, runtime.clock(), begun);
}

/// `senders` plain threads send to one actor as fast as its mailbox takes.
double counting(int threads, int senders, Duration length) {
  std::atomic<std::uint64_t> handled{0};
  std::atomic<bool> over{false};
  RuntimeOptions options;
  options.threads = threads;
  Runtime runtime(options);
  const ActorRef counter = runtime.spawn<Counter>({}, &handled);
  const auto begun = runtime.clock().now();
  std::vector<std::thread> threads_of_senders;
  for (int i = 0; i < senders; ++i) {
    threads_of_senders.emplace_back([&] {
      while (!over.load(std::memory_order_relaxed)) {
        if (!runtime.send(counter, note(1))) std::this_thread::yield();
      }
    });
  }
  std::this_thread::sleep_for(length);
  const double rate = per_second(handled.load(), runtime.clock(), begun);
  over = true;
  for (auto& sender : threads_of_senders) sender.join();
  return rate;
}

double blocking_ask_microseconds(Duration length) {
  std::atomic<std::uint64_t> handled{0};
  Runtime runtime(RuntimeOptions{});
  const ActorRef counter = runtime.spawn<Counter>({}, &handled);
  const auto begun = runtime.clock().now();
  std::uint64_t asked = 0;
  while (runtime.clock().now() - begun < length) {
    if (runtime.ask_blocking<Note>(counter, note(1), std::chrono::seconds(5))) ++asked;
  }
  return 1e6 / per_second(asked, runtime.clock(), begun);
}

}  // namespace
}  // namespace tandem::runtime

int main(int count, char** arguments) {
  using namespace tandem::runtime;
  const int threads = count > 1 ? std::atoi(arguments[1]) : 2;
  const tandem::Duration length = tandem::from_seconds(count > 2 ? std::atof(arguments[2]) : 2.0);
  fmt::print("threads {}\n", threads);
  fmt::print("ping-pong, 1 pair      {:8.2f} M msg/s\n", ring(threads, 2, 1, length) / 1e6);
  fmt::print("ping-pong, {} pairs     {:8.2f} M msg/s\n", threads,
             [&] { return ring(threads, 2 * threads, threads, length) / 1e6; }());
  fmt::print("ring of 100, 10 tokens {:8.2f} M msg/s\n", ring(threads, 100, 10, length) / 1e6);
  fmt::print("counting, 1 sender     {:8.2f} M msg/s\n", counting(threads, 1, length) / 1e6);
  fmt::print("blocking ask           {:8.2f} us\n", blocking_ask_microseconds(length));
  return 0;
}
