/// Contender: an actor runtime that plays the cases of the in-process suite. The cases follow Savina (Imam and Sarkar,
/// AGERE 2014). Kept to C++17, which one contender is compiled as.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace tandem::bench {

inline constexpr int kThreads = 2;

inline constexpr std::uint64_t kPingPongMessages = 1'000'000;
inline constexpr std::uint64_t kRingActors = 100, kRingMessages = 1'000'000;
inline constexpr std::uint64_t kCountingMessages = 1'000'000;
inline constexpr std::uint64_t kForkJoinActors = 60, kForkJoinMessagesEach = 10'000;
inline constexpr std::uint64_t kForkJoinCreated = 40'000;
inline constexpr std::uint64_t kBigActors = 120, kBigPingsEach = 4'000;
inline constexpr std::uint64_t kChameneos = 100, kChameneosMeetings = 200'000;
inline constexpr std::uint64_t kBlockingAsks = 20'000;
inline constexpr std::uint64_t kShortLives = 400'000, kShortLivesAtOnce = 10'000;
inline constexpr std::uint64_t kIdleActors = 100'000;

/// Every function plays one round in a runtime of its own, and tells how many seconds it took: from the first message
/// to the last, the start and the end of the runtime not counted.
class Contender {
 public:
  virtual ~Contender() = default;
  [[nodiscard]] virtual const char* name() const = 0;

  virtual double ping_pong() = 0;             ///< two actors send one message to and fro
  virtual double ring() = 0;                  ///< one message runs around many actors
  virtual double counting() = 0;              ///< one actor sends to another as fast as it takes
  virtual double fork_join_throughput() = 0;  ///< one actor sends to many
  virtual double fork_join_create() = 0;      ///< makes all at once; each gets one message and ends
  virtual double big() = 0;                   ///< many actors ping one another at random
  virtual double chameneos() = 0;             ///< many actors meet in pairs at one place
  virtual double blocking_ask() = 0;          ///< a plain thread asks and waits
  virtual double short_lives() = 0;           ///< as fork_join_create, a bounded number alive at a time
  /// Growth of the process's memory by each idle actor with one handler. Called in a process of its own.
  virtual double idle_actor_bytes() = 0;
};

/// The small work that some cases do for each message.
double small_work(std::uint64_t seed);

/// Draws the partners of `big`; the same for all.
class Partners {
 public:
  explicit Partners(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 1) {}
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state_ >> 33) % kBigActors;
  }

 private:
  std::uint64_t state_;
};

/// What two chameneos become.
inline int complement(int a, int b) { return a == b ? a : 3 - a - b; }

/// The end of a round, for the thread that waits for it. Opens at the `count`th arrival.
class Finish {
 public:
  explicit Finish(std::uint64_t count) : left_(count) {}
  void arrive() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--left_ == 0) changed_.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return left_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t left_;
};

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }

 private:
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

/// Memory of this process in RAM.
std::uint64_t resident_bytes();

Contender& tandem_contender();
Contender& caf_contender();  ///< in builds that found it

}  // namespace tandem::bench
