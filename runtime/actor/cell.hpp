/// Cell: a place for an actor: mailbox, account of what is in it, and the turn that serves it. Private to the runtime.
/// Cells are never freed while the runtime lives; they serve one actor after another, told apart by a generation,
/// so that a sender needs no lock to find out that whom it writes to is gone.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "runtime/actor/envelope.hpp"
#include "runtime/actor/life.hpp"
#include "runtime/actor/scheduler.hpp"

namespace tandem::runtime {

class Core;

/// Which allowance of the mailbox a message uses up.
enum class Lane {
  user,      ///< bounded by the actor's options
  reserved,  ///< replies, Down, stop: bounded by what the actor itself has asked for
};

class Cell final : public Turn {
 public:
  using ActivityName = const char* (*)();

  Cell(Core& core, std::uint32_t index) : core_(core), index_(index) {}
  ~Cell();

  // ---- from any thread

  /// Takes a place in the mailbox, then puts the envelope there. On an error the envelope is untouched.
  Result<> push(EnvelopePtr& envelope, Lane lane);
  /// As push, and looked at before all that waits. For stop and kill.
  Result<> push_urgent(EnvelopePtr& envelope);
  /// What the actor is doing, for a shutdown that waits.
  [[nodiscard]] const char* activity() const noexcept {
    const ActivityName name = activity_.load(std::memory_order_relaxed);
    return name != nullptr ? name() : "idle";
  }

  // ---- by the core

  /// Destroys what is left when nothing runs any more.
  void abandon();
  /// Opens the account for a new actor and returns its local number. The cell must be free.
  [[nodiscard]] std::uint64_t open(const SpawnOptions& options);

  void run_turn() override;
  void wake() override;
  [[nodiscard]] std::uint64_t turn_id() const noexcept override { return index_; }
  [[nodiscard]] bool slow() const noexcept override { return slow_.load(std::memory_order_relaxed); }

  // ---- from the actor's own turns

  [[nodiscard]] Life& life() noexcept { return *life_; }
  [[nodiscard]] Core& core() noexcept { return core_; }
  void ask(ActorRef to, EnvelopePtr envelope, Duration deadline, UniqueFunction<void(Result<EnvelopePtr>)> on_reply);
  TimerId after(Duration delay, UniqueFunction<void()> then);
  void monitor(ActorRef ref);
  void demonitor(ActorRef ref);

 private:
  /// account_: generation (28 bits, odd while an actor lives here) | reserved (18) | user messages (18).
  static constexpr int kUserBits = 18, kReservedBits = 18;
  static constexpr std::uint64_t kUserOne = 1, kReservedOne = 1ULL << kUserBits;
  static constexpr std::uint64_t kUserMask = kReservedOne - 1;
  static constexpr std::uint64_t kReservedMask = ((1ULL << kReservedBits) - 1) << kUserBits;
  static constexpr int kGenerationShift = kUserBits + kReservedBits;

  struct Failure {
    DownCause cause = DownCause::failed;
    std::string detail;
  };

  Result<> reserve(Envelope& envelope, Lane lane);
  void release(const Envelope& envelope);
  void link_in(EnvelopePtr envelope);
  void submit_if_idle();

  [[nodiscard]] EnvelopePtr take();
  void process(EnvelopePtr envelope);
  void process_message(Envelope& envelope);
  void process_answer(EnvelopePtr envelope);
  void process_down(const Down& down);
  void process_link_lost(const Envelope& envelope);
  void begin_life(std::unique_ptr<Life> life);
  void serve_deadlines();
  void serve_urgent();
  void rearm();

  /// Runs code of the actor; an exception is its failure, unless a damaged message from `link` is to blame.
  template <class F>
  std::optional<Failure> guarded(ActivityName activity, std::uint64_t link, F&& run);
  /// The same, and acts upon the failure.
  template <class F>
  void run_guarded(ActivityName activity, std::uint64_t link, F&& run);
  void failed(const Failure& failure);
  void clear_life();
  void begin_stop();
  void make_anew();
  void end_life(DownCause cause, const std::string& detail);
  void refuse(EnvelopePtr envelope, const std::string& why);
  void tell_self_down(ActorRef ref, DownCause cause, std::string detail);
  void answer_self(std::uint64_t ask_id, const Error& error);
  [[nodiscard]] bool recyclable() const noexcept;

  Core& core_;
  const std::uint32_t index_;

  // Shared with senders.
  std::atomic<std::uint64_t> account_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint32_t> user_limit_{0};
  std::atomic<std::uint64_t> byte_limit_{0};
  std::atomic<Envelope*> inbox_{nullptr};  // newest first
  std::atomic<bool> scheduled_{false};
  std::atomic<bool> urgent_{false};
  std::atomic<bool> woken_{false};
  std::atomic<bool> slow_{false};
  std::atomic<ActivityName> activity_{nullptr};
  std::atomic<bool> in_use_{false};  // from `open` until the last reserved place is given back

  // Touched in turns only.
  Envelope* next_ = nullptr;  // taken from the inbox, oldest first
  Envelope* held_ = nullptr;  // set aside while the actor waits to be made anew; newest first
  std::unique_ptr<Life> life_;
};

}  // namespace tandem::runtime
