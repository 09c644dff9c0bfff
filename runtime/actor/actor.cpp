#include "runtime/actor/actor.hpp"

#include <algorithm>

#include "runtime/actor/core.hpp"

namespace tandem::runtime {

Actor::Actor() = default;
Actor::~Actor() = default;

ActorRef Actor::self() const noexcept { return cell_->life().self; }
const Clock& Actor::clock() const noexcept { return cell_->core().clock(); }
const Logger& Actor::log() const noexcept { return cell_->life().log; }
Runtime& Actor::runtime() const noexcept { return cell_->core().runtime(); }

TimerId Actor::after(Duration delay, UniqueFunction<void()> then) { return cell_->after(delay, std::move(then)); }
void Actor::cancel(TimerId timer) { (void)cell_->life().timers.take(timer); }
void Actor::monitor(ActorRef ref) { cell_->monitor(ref); }
void Actor::demonitor(ActorRef ref) { cell_->demonitor(ref); }

void Actor::stop() { cell_->life().stop_requested = true; }

void Actor::hold_stop(std::string reason) {
  Life& life = cell_->life();
  life.hold_reason = reason.empty() ? "no reason given" : std::move(reason);
  cell_->core().note_hold(life.self.local, life.hold_reason);
}

void Actor::release_stop() {
  cell_->life().hold_reason.clear();
  if (cell_->life().phase == Life::Phase::stopping) cell_->life().stop_requested = true;
}

void Actor::add_handler(std::uint64_t type_id, const char* (*type_name)(), Handler handler) {
  const auto at = std::lower_bound(handlers_.begin(), handlers_.end(), type_id,
                                   [](const HandlerEntry& entry, std::uint64_t id) { return entry.type_id < id; });
  if (at != handlers_.end() && at->type_id == type_id) {
    at->handler = std::move(handler);
  } else {
    handlers_.insert(at, {type_id, type_name, std::move(handler)});
  }
}

Actor::HandlerEntry* Actor::find_handler(std::uint64_t type_id) noexcept {
  const auto at = std::lower_bound(handlers_.begin(), handlers_.end(), type_id,
                                   [](const HandlerEntry& entry, std::uint64_t id) { return entry.type_id < id; });
  return at != handlers_.end() && at->type_id == type_id ? &*at : nullptr;
}

Result<> Actor::send_envelope(ActorRef to, EnvelopePtr envelope) {
  envelope->target = to;
  envelope->sender = self();
  const auto routed = cell_->core().route(envelope, Lane::user);
  if (!routed) return forward_error(routed);
  return {};
}

void Actor::ask_envelope(ActorRef to, EnvelopePtr envelope, Duration deadline,
                         UniqueFunction<void(Result<EnvelopePtr>)> on_reply) {
  cell_->ask(to, std::move(envelope), deadline, std::move(on_reply));
}

}  // namespace tandem::runtime
