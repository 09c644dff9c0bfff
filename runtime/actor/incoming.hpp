/// Incoming: the message a handler is given, and the means to answer it now or later.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/actor/message.hpp"

namespace tandem::runtime {

class Core;

/// The duty to answer one ask. Move-only, usable from any thread while the runtime lives.
/// Destroyed unanswered, it tells the asker `unavailable`.
class Responder {
 public:
  Responder() noexcept = default;
  Responder(Core& core, ActorRef self, ActorRef asker, std::uint64_t ask_id) noexcept
      : core_(&core), self_(self), asker_(asker), ask_id_(ask_id) {}
  Responder(Responder&& other) noexcept { *this = std::move(other); }
  Responder& operator=(Responder&& other) noexcept;
  ~Responder();

  /// False once answered, and for a message nobody waits on.
  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
  [[nodiscard]] ActorRef asker() const noexcept { return asker_; }

  template <class T>
  void reply(Outgoing<T> answer) {
    answer_with(std::move(answer).release());
  }
  void reply_error(const Error& error);

 private:
  void answer_with(EnvelopePtr answer);

  Core* core_ = nullptr;
  ActorRef self_;
  ActorRef asker_;
  std::uint64_t ask_id_ = 0;
};

/// Valid during its handler only; what must live longer is copied, or moved out as a Responder.
class Incoming {
 public:
  Incoming(Envelope& envelope, Responder responder) noexcept : envelope_(envelope), responder_(std::move(responder)) {}

  [[nodiscard]] ActorRef sender() const noexcept { return envelope_.sender; }
  /// Whether the sender waits for an answer. Answers to a plain message are dropped.
  [[nodiscard]] bool asked() const noexcept { return envelope_.ask_id != 0; }
  [[nodiscard]] std::uint64_t type_id() const noexcept { return envelope_.type_id; }

  template <class T>
  [[nodiscard]] typename T::Reader root() const {
    return envelope_.content().template getRoot<T>().asReader();
  }

  template <class T>
  void reply(Outgoing<T> answer) {
    responder_.reply(std::move(answer));
  }
  void reply_error(const Error& error) { responder_.reply_error(error); }
  /// Takes over the duty to answer. Without it, or an answer, the asker gets an error when the handler returns.
  [[nodiscard]] Responder defer() noexcept { return std::move(responder_); }

 private:
  friend class Cell;
  Envelope& envelope_;
  Responder responder_;
};

}  // namespace tandem::runtime
