/// Outgoing<T> and Reply<T>: typed Cap'n Proto messages on their way to an actor, and as they come back.
#pragma once

#include <capnp/schema.h>

#include <utility>

#include "runtime/actor/envelope.hpp"

namespace tandem::runtime {

template <class T>
[[nodiscard]] const char* message_type_name() {
  return capnp::Schema::from<T>().getShortDisplayName().cStr();
}

/// A message being written. Builders got from it stay valid while it moves; sending takes it.
template <class T>
class Outgoing {
 public:
  Outgoing() : envelope_(make_envelope(EnvelopeKind::message)), root_(envelope_->content().template initRoot<T>()) {
    stamp();
  }
  explicit Outgoing(typename T::Reader copied)
      : envelope_(make_envelope(EnvelopeKind::message)), root_(copy(*envelope_, copied)) {
    stamp();
  }

  typename T::Builder* operator->() noexcept { return &root_; }
  typename T::Builder& operator*() noexcept { return root_; }
  /// Replaces everything written so far by a copy.
  void set(typename T::Reader copied) { root_ = copy(*envelope_, copied); }

  /// For the runtime: the envelope, out of its typed cover.
  [[nodiscard]] EnvelopePtr release() && noexcept { return std::move(envelope_); }

 private:
  static typename T::Builder copy(Envelope& envelope, typename T::Reader copied) {
    envelope.content().setRoot(copied);
    return envelope.content().template getRoot<T>();
  }
  void stamp() noexcept {
    envelope_->type_id = capnp::typeId<T>();
    envelope_->type_name = &message_type_name<T>;
  }

  EnvelopePtr envelope_;
  typename T::Builder root_;
};

template <class T>
[[nodiscard]] Outgoing<T> make_message() {
  return Outgoing<T>();
}
template <class T>
[[nodiscard]] Outgoing<T> make_message(typename T::Reader copied) {
  return Outgoing<T>(copied);
}

/// An answer. It owns its message: readers got from it live as long as it does.
template <class T>
class Reply {
 public:
  explicit Reply(EnvelopePtr envelope) noexcept : envelope_(std::move(envelope)) {}

  [[nodiscard]] typename T::Reader root() const { return envelope_->content().template getRoot<T>().asReader(); }
  [[nodiscard]] ActorRef sender() const noexcept { return envelope_->sender; }

 private:
  EnvelopePtr envelope_;
};

/// The typed answer, or an error when the peer answered with another type.
template <class T>
[[nodiscard]] Result<Reply<T>> typed_reply(Result<EnvelopePtr> answer) {
  if (!answer) return forward_error(answer);
  if ((*answer)->type_id != capnp::typeId<T>()) {
    return fail(ErrorCode::failed_precondition, "the answer is a message of type 0x{:x}, not {}", (*answer)->type_id,
                message_type_name<T>());
  }
  return Reply<T>(std::move(*answer));
}

}  // namespace tandem::runtime
