/// Actor: state that only its own messages touch. It runs one message at a time, on no particular thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/actor/actor_ref.hpp"
#include "runtime/actor/down.hpp"
#include "runtime/actor/incoming.hpp"
#include "runtime/actor/message.hpp"
#include "runtime/actor/spawn_options.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/unique_function.hpp"

namespace tandem::runtime {

class Cell;
class Runtime;

/// Names a timer of one actor; 0 is none.
using TimerId = std::uint64_t;

/// Derive, register handlers with `on<T>` in the constructor or in `on_start`, and spawn through `Runtime`.
/// The services below work from `on_start` on. An exception out of a handler is the failure of this actor alone.
class Actor {
 public:
  virtual ~Actor();
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;

 protected:
  Actor();

  /// First of all turns.
  virtual void on_start() {}
  /// A watched actor has ended; once for each, after its last message.
  virtual void on_down(const Down& down) { (void)down; }
  /// The actor is to stop. It ends when this returns, unless it calls `hold_stop` first.
  virtual void on_stop() {}

  /// `handler` is `void(typename T::Reader, Incoming&)`. A second handler for a type replaces the first.
  template <class T, class F>
  void on(F handler) {
    add_handler(capnp::typeId<T>(), &message_type_name<T>,
                [handler = std::move(handler)](Incoming& in) mutable { handler(in.root<T>(), in); });
  }

  [[nodiscard]] ActorRef self() const noexcept;
  [[nodiscard]] const Clock& clock() const noexcept;
  [[nodiscard]] const Logger& log() const noexcept;
  [[nodiscard]] Runtime& runtime() const noexcept;

  /// Errors: resource_exhausted, the mailbox or connection is full; unavailable, the actor or its node is gone.
  template <class T>
  Result<> send(ActorRef to, Outgoing<T> message) {
    return send_envelope(to, std::move(message).release());
  }

  /// `on_reply(Result<Reply<Rsp>>)` runs in a later turn of this actor, exactly once while the actor lives: with the
  /// answer, the peer's error, deadline_exceeded, or unavailable when the peer dies.
  template <class Rsp, class Req, class F>
  void ask(ActorRef to, Outgoing<Req> request, Duration deadline, F on_reply) {
    ask_envelope(to, std::move(request).release(), deadline,
                 [on_reply = std::move(on_reply)](Result<EnvelopePtr> answer) mutable {
                   on_reply(typed_reply<Rsp>(std::move(answer)));
                 });
  }

  /// Runs `then` once after `delay`. 0 when the actor has too many timers, which is logged.
  TimerId after(Duration delay, UniqueFunction<void()> then);
  /// A timer that has run or never was is ignored.
  void cancel(TimerId timer);

  /// `on_down` tells of the end of `ref`; at once when it is not alive. Twice is once.
  void monitor(ActorRef ref);
  void demonitor(ActorRef ref);

  /// Ends this actor after the handler under way; `on_stop` runs.
  void stop();
  /// In `on_stop`: lives on, messages and all, until `release_stop`, or until the deadline kills it naming `reason`.
  void hold_stop(std::string reason);
  void release_stop();

 private:
  friend class Cell;
  using Handler = UniqueFunction<void(Incoming&)>;
  struct HandlerEntry {
    std::uint64_t type_id;
    const char* (*type_name)();
    Handler handler;
  };

  void add_handler(std::uint64_t type_id, const char* (*type_name)(), Handler handler);
  [[nodiscard]] HandlerEntry* find_handler(std::uint64_t type_id) noexcept;
  Result<> send_envelope(ActorRef to, EnvelopePtr envelope);
  void ask_envelope(ActorRef to, EnvelopePtr envelope, Duration deadline,
                    UniqueFunction<void(Result<EnvelopePtr>)> on_reply);

  Cell* cell_ = nullptr;
  std::vector<HandlerEntry> handlers_;  // by type_id
};

}  // namespace tandem::runtime
