#include "runtime/actor/incoming.hpp"

#include "runtime/actor/core.hpp"

namespace tandem::runtime {

Responder& Responder::operator=(Responder&& other) noexcept {
  std::swap(core_, other.core_);
  std::swap(self_, other.self_);
  std::swap(asker_, other.asker_);
  std::swap(ask_id_, other.ask_id_);
  return *this;
}

Responder::~Responder() { reply_error({ErrorCode::unavailable, "the actor ended or dropped the question unanswered"}); }

void Responder::reply_error(const Error& error) {
  if (Core* core = std::exchange(core_, nullptr)) core->answer_error(self_, asker_, ask_id_, error);
}

void Responder::answer_with(EnvelopePtr answer) {
  Core* core = std::exchange(core_, nullptr);
  if (core == nullptr) return;
  answer->kind = EnvelopeKind::reply;
  answer->target = asker_;
  answer->sender = self_;
  answer->ask_id = ask_id_;
  const auto routed = core->route(answer, Lane::reserved);
  // An answer too large for the wire is told as such; whether the asker still lives is its own affair.
  if (!routed && routed.error().code() == ErrorCode::resource_exhausted) {
    core->answer_error(self_, asker_, ask_id_, routed.error());
  }
}

}  // namespace tandem::runtime
