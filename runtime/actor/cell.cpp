#include "runtime/actor/cell.hpp"

#include <kj/exception.h>

#include <algorithm>
#include <new>
#include <utility>

#include "runtime/actor/core.hpp"
#include "runtime/base/random.hpp"

namespace tandem::runtime {
namespace {

constexpr std::uint64_t kGenerationMask = (1ULL << 28) - 1;

const char* name_on_start() { return "on_start"; }
const char* name_on_stop() { return "on_stop"; }
const char* name_on_down() { return "on_down"; }
const char* name_answer() { return "the callback of an ask"; }
const char* name_timer() { return "a timer"; }
const char* name_factory() { return "the factory"; }
const char* name_end() { return "the destructor"; }

Envelope* reversed(Envelope* list) noexcept {
  Envelope* out = nullptr;
  while (list != nullptr) {
    Envelope* following = list->next;
    list->next = out;
    out = list;
    list = following;
  }
  return out;
}

}  // namespace

Cell::~Cell() { abandon(); }

// ---- the mailbox, from any thread

Result<> Cell::reserve(Envelope& envelope, Lane lane) {
  const std::uint64_t generation = envelope.target.local >> 32;
  const std::uint64_t one = lane == Lane::user ? kUserOne : kReservedOne;
  std::uint64_t account = account_.load(std::memory_order_acquire);
  do {
    if ((account >> kGenerationShift) != generation || generation % 2 == 0) {
      return fail(ErrorCode::unavailable, "actor {} has ended", to_string(envelope.target));
    }
    if (lane == Lane::user && (account & kUserMask) >= user_limit_.load(std::memory_order_relaxed)) {
      return fail(ErrorCode::resource_exhausted, "the mailbox of actor {} is full: {} messages",
                  to_string(envelope.target), account & kUserMask);
    }
    if (lane == Lane::reserved && (account & kReservedMask) == kReservedMask) {
      return fail(ErrorCode::resource_exhausted, "the reserved lane of actor {} is full", to_string(envelope.target));
    }
  } while (
      !account_.compare_exchange_weak(account, account + one, std::memory_order_acq_rel, std::memory_order_acquire));
  envelope.reserved = lane == Lane::reserved;
  if (envelope.reserved) return {};

  envelope.bytes = envelope.has_content ? envelope.content().bytes() : 0;
  const std::uint64_t limit = byte_limit_.load(std::memory_order_relaxed);
  std::uint64_t held = bytes_.load(std::memory_order_relaxed);
  do {
    if (held + envelope.bytes > limit) {
      account_.fetch_sub(kUserOne, std::memory_order_acq_rel);
      submit_if_idle();  // this may have been the last place of a cell that waits to be free
      return fail(ErrorCode::resource_exhausted,
                  "the mailbox of actor {} cannot take {} bytes more: it holds {}, at most {}",
                  to_string(envelope.target), envelope.bytes, held, limit);
    }
  } while (!bytes_.compare_exchange_weak(held, held + envelope.bytes, std::memory_order_relaxed));
  return {};
}

void Cell::release(const Envelope& envelope) {
  if (!envelope.reserved) bytes_.fetch_sub(envelope.bytes, std::memory_order_relaxed);
  account_.fetch_sub(envelope.reserved ? kReservedOne : kUserOne, std::memory_order_acq_rel);
}

void Cell::link_in(EnvelopePtr envelope) {
  Envelope* raw = envelope.release();
  Envelope* head = inbox_.load(std::memory_order_relaxed);
  do {
    raw->next = head;
  } while (!inbox_.compare_exchange_weak(head, raw, std::memory_order_seq_cst, std::memory_order_relaxed));
}

void Cell::submit_if_idle() {
  if (!scheduled_.load(std::memory_order_seq_cst) && !scheduled_.exchange(true, std::memory_order_seq_cst)) {
    core_.scheduler().submit(*this);
  }
}

Result<> Cell::push(EnvelopePtr& envelope, Lane lane) {
  if (auto reserved = reserve(*envelope, lane); !reserved) return reserved;
  link_in(std::move(envelope));
  submit_if_idle();
  return {};
}

Result<> Cell::push_urgent(EnvelopePtr& envelope) {
  if (auto reserved = reserve(*envelope, Lane::reserved); !reserved) return reserved;
  link_in(std::move(envelope));
  urgent_.store(true, std::memory_order_seq_cst);
  submit_if_idle();
  return {};
}

void Cell::wake() {
  woken_.store(true, std::memory_order_seq_cst);
  submit_if_idle();
}

std::uint64_t Cell::open(const SpawnOptions& options) {
  user_limit_.store(std::min(options.mailbox_messages, limits::kMailboxMessagesMax), std::memory_order_relaxed);
  byte_limit_.store(options.mailbox_bytes, std::memory_order_relaxed);
  const std::uint64_t generation =
      ((account_.load(std::memory_order_relaxed) >> kGenerationShift) + 1) & kGenerationMask;
  account_.store(generation << kGenerationShift, std::memory_order_seq_cst);
  // After the account: the turn that recycled this cell may still be looking whether it can be recycled, and must not
  // find it both in use and dead.
  in_use_.store(true, std::memory_order_seq_cst);
  return (generation << 32) | index_;
}

// ---- turns

void Cell::run_turn() {
  const Clock& clock = core_.clock();
  const MonotonicTime begun = clock.now();
  MonotonicTime before = begun;
  for (int taken = 0; taken < limits::kTurnMessages; ++taken) {
    if (woken_.load(std::memory_order_relaxed) && woken_.exchange(false, std::memory_order_seq_cst)) serve_deadlines();
    if (urgent_.load(std::memory_order_relaxed) && urgent_.exchange(false, std::memory_order_seq_cst)) serve_urgent();
    EnvelopePtr envelope = take();
    if (!envelope) break;
    process(std::move(envelope));
    if (life_ && life_->stop_requested) begin_stop();
    const MonotonicTime now = clock.now();
    if (now - before > limits::kSlowHandler) {
      core_.log().warning("actor {} held its thread for {:.2f} s in {}", life_ ? life_->log.component() : "that ended",
                          to_seconds(now - before), activity());
    }
    before = now;
  }
  if (life_) rearm();
  slow_.store(before - begun > limits::kQuickTurn, std::memory_order_relaxed);
  activity_.store(nullptr, std::memory_order_relaxed);

  if (next_ != nullptr || inbox_.load(std::memory_order_relaxed) != nullptr) return core_.scheduler().submit(*this);
  if (recyclable()) {
    in_use_.store(false, std::memory_order_relaxed);
    core_.recycle(index_);
  }
  scheduled_.store(false, std::memory_order_seq_cst);
  // Whoever came between the last look and this store has not submitted the cell.
  const bool more = inbox_.load(std::memory_order_seq_cst) != nullptr || urgent_.load(std::memory_order_seq_cst) ||
                    woken_.load(std::memory_order_seq_cst) || recyclable();
  if (more) submit_if_idle();
}

bool Cell::recyclable() const noexcept {
  const std::uint64_t account = account_.load(std::memory_order_seq_cst);
  return (account & (kUserMask | kReservedMask)) == 0 && (account >> kGenerationShift) % 2 == 0 &&
         in_use_.load(std::memory_order_seq_cst);
}

EnvelopePtr Cell::take() {
  for (;;) {
    if (next_ == nullptr) next_ = reversed(inbox_.exchange(nullptr, std::memory_order_seq_cst));
    if (next_ == nullptr) return {};
    Envelope* first = std::exchange(next_, next_->next);
    if (life_ && life_->phase == Life::Phase::waiting_to_restart && first->kind == EnvelopeKind::message) {
      first->next = held_;  // keeps its place in the account
      held_ = first;
      continue;
    }
    first->next = nullptr;
    release(*first);
    return EnvelopePtr(first);
  }
}

void Cell::serve_urgent() {
  // Everything older is in front of the new arrivals.
  Envelope** end = &next_;
  while (*end != nullptr) end = &(*end)->next;
  *end = reversed(inbox_.exchange(nullptr, std::memory_order_seq_cst));
  for (Envelope** at = &next_; *at != nullptr;) {
    Envelope* found = *at;
    if (found->kind != EnvelopeKind::stop && found->kind != EnvelopeKind::kill) {
      at = &found->next;
      continue;
    }
    if (!life_) return;  // its start is still in the mailbox: it is stopped in its order
    *at = std::exchange(found->next, nullptr);
    release(*found);
    process(EnvelopePtr(found));
    at = &next_;
  }
}

void Cell::process(EnvelopePtr envelope) {
  if (core_.traced()) {
    core_.trace(mix_seed(mix_seed(envelope->target.local, envelope->type_id),
                         static_cast<std::uint64_t>(envelope->kind) ^ envelope->ask_id << 8));
  }
  if (!life_) {
    if (envelope->kind == EnvelopeKind::start) return begin_life(std::move(envelope->controls().life));
    return refuse(std::move(envelope), "the actor has ended");
  }
  switch (envelope->kind) {
    case EnvelopeKind::message:
      return process_message(*envelope);
    case EnvelopeKind::reply:
    case EnvelopeKind::error:
      return process_answer(std::move(envelope));
    case EnvelopeKind::monitor:
      if (life_->watchers.size() >= limits::kMonitors) {
        return core_.log().warning("actor {} is watched by {} others already; {} will not be told of its end",
                                   life_->log.component(), limits::kMonitors, to_string(envelope->sender));
      }
      life_->watchers.insert(envelope->sender);
      return;
    case EnvelopeKind::demonitor:
      life_->watchers.erase(envelope->sender);
      return;
    case EnvelopeKind::down:
      return process_down(envelope->controls().down);
    case EnvelopeKind::link_lost:
      return process_link_lost(*envelope);
    case EnvelopeKind::stop:
      return begin_stop();
    case EnvelopeKind::kill:
      return end_life(envelope->controls().down.cause, envelope->controls().down.detail);
    case EnvelopeKind::call:
      return envelope->controls().call(*this);
    case EnvelopeKind::start:
      return;
  }
}

void Cell::process_message(Envelope& envelope) {
  Responder responder;
  if (envelope.ask_id != 0) responder = Responder(core_, life_->self, envelope.sender, envelope.ask_id);
  Incoming incoming(envelope, std::move(responder));
  auto* entry = life_->actor->find_handler(envelope.type_id);
  if (entry == nullptr) {
    const std::string type =
        envelope.type_name != nullptr ? envelope.type_name() : fmt::format("0x{:x}", envelope.type_id);
    if (!incoming.asked()) return life_->log.warning("no handler for {}, sent by {}", type, to_string(envelope.sender));
    return incoming.reply_error({ErrorCode::invalid_argument,
                                 fmt::format("actor {} takes no message of type {}", life_->log.component(), type)});
  }
  const auto failure = guarded(entry->type_name, envelope.link, [&] { entry->handler(incoming); });
  if (incoming.responder_) {
    incoming.reply_error(
        failure ? Error(ErrorCode::internal, failure->detail)
                : Error(ErrorCode::unavailable, fmt::format("actor {} did not answer", life_->log.component())));
  }
  if (failure) failed(*failure);
}

void Cell::process_answer(EnvelopePtr envelope) {
  auto pending = life_->asks.take(envelope->ask_id);
  if (!pending) return;  // resolved before: by its deadline, or by the loss of a node
  const std::uint64_t link = envelope->link;
  Result<EnvelopePtr> answer = tl::unexpected<Error>(
      envelope->kind == EnvelopeKind::error ? std::move(envelope->controls().error) : Error(ErrorCode::internal, ""));
  if (envelope->kind == EnvelopeKind::reply) answer = std::move(envelope);
  run_guarded(&name_answer, link, [&] { pending->on_reply(std::move(answer)); });
}

void Cell::process_down(const Down& down) {
  if (life_->watched.erase(down.ref) == 0) return;  // told already, or no longer of interest
  if (life_->phase == Life::Phase::waiting_to_restart) return;
  run_guarded(&name_on_down, 0, [&] { life_->actor->on_down(down); });
}

void Cell::process_link_lost(const Envelope& envelope) {
  const std::uint64_t link = envelope.link;
  const ActorRef node = envelope.control->down.ref;
  const std::string why = envelope.control->down.detail;
  std::erase_if(life_->watchers, [&](const ActorRef& watcher) {
    return watcher.node == node.node && watcher.incarnation == node.incarnation;
  });
  while (life_) {
    auto lost = life_->asks.take_if([&](const Life::PendingAsk& ask) { return ask.link == link; });
    if (!lost) break;
    run_guarded(&name_answer, 0,
                [&] { lost->on_reply(fail(ErrorCode::unavailable, "node {} is lost: {}", node.node, why)); });
  }
  while (life_) {
    const auto lost = std::find_if(life_->watched.begin(), life_->watched.end(), [&](const ActorRef& ref) {
      return ref.node == node.node && ref.incarnation == node.incarnation;
    });
    if (lost == life_->watched.end()) break;
    process_down({*lost, DownCause::node_lost, why});
  }
}

// ---- deadlines

void Cell::serve_deadlines() {
  if (!life_) return;
  life_->armed.reset();
  const MonotonicTime now = core_.clock().now();
  while (life_) {
    auto ask = life_->asks.take_due(now);
    if (!ask) break;
    run_guarded(&name_answer, 0, [&] {
      ask->on_reply(fail(ErrorCode::deadline_exceeded, "no answer from actor {} in time", to_string(ask->target)));
    });
  }
  while (life_) {
    auto timer = life_->timers.take_due(now);
    if (!timer) break;
    run_guarded(&name_timer, 0, [&] { (*timer)(); });
  }
  if (life_ && life_->stop_requested) begin_stop();
  if (life_ && life_->stop_by && *life_->stop_by <= now) {
    end_life(DownCause::killed, fmt::format("held up its stop beyond the deadline: {}", life_->hold_reason));
  }
  if (life_ && life_->restart_at && *life_->restart_at <= now) make_anew();
}

void Cell::rearm() {
  std::optional<MonotonicTime> earliest;
  for (const auto& when : {life_->asks.next(), life_->timers.next(), life_->stop_by, life_->restart_at}) {
    if (when && (!earliest || *when < *earliest)) earliest = when;
  }
  // Only ever earlier: a wake that finds nothing due costs less than one request to the scheduler per ask.
  if (!earliest || (life_->armed && *life_->armed <= *earliest)) return;
  life_->armed = earliest;
  core_.scheduler().wake_at(*this, *earliest);
}

// ---- beginning, failing, ending

template <class F>
std::optional<Cell::Failure> Cell::guarded(ActivityName activity, std::uint64_t link, F&& run) {
  activity_.store(activity, std::memory_order_relaxed);
  try {
    run();
    return std::nullopt;
  } catch (const kj::Exception& damage) {
    if (link == 0) return Failure{DownCause::failed, damage.getDescription().cStr()};
    core_.links().fail_link(link, damage.getDescription().cStr());
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return Failure{DownCause::out_of_memory, fmt::format("no memory in {}", activity())};
  } catch (const std::exception& thrown) {
    return Failure{DownCause::failed, fmt::format("{} in {}", thrown.what(), activity())};
  } catch (...) {
    return Failure{DownCause::failed, fmt::format("an unknown exception in {}", activity())};
  }
}

template <class F>
void Cell::run_guarded(ActivityName activity, std::uint64_t link, F&& run) {
  if (const auto failure = guarded(activity, link, std::forward<F>(run))) failed(*failure);
}

void Cell::begin_life(std::unique_ptr<Life> life) {
  life_ = std::move(life);
  life_->actor->cell_ = this;
  run_guarded(&name_on_start, 0, [&] { life_->actor->on_start(); });
}

void Cell::failed(const Failure& failure) {
  Life& life = *life_;
  if (life.options.restart == Restart::none || !life.factory || life.phase == Life::Phase::stopping) {
    life.log.error("failed: {}", failure.detail);
    return end_life(failure.cause, failure.detail);
  }
  const MonotonicTime now = core_.clock().now();
  while (!life.restarts.empty() && now - life.restarts.front() > life.options.restart_window) life.restarts.pop_front();
  if (static_cast<int>(life.restarts.size()) >= life.options.max_restarts) {
    life.log.error("failed: {}; {} restarts within {:.0f} s are enough", failure.detail, life.restarts.size(),
                   to_seconds(life.options.restart_window));
    return end_life(failure.cause, fmt::format("{} (after {} restarts)", failure.detail, life.restarts.size()));
  }
  const int doublings = std::min<int>(static_cast<int>(life.restarts.size()), 20);
  const Duration backoff =
      std::min<Duration>(life.options.restart_backoff * (1LL << doublings), limits::kRestartBackoffMax);
  life.log.warning("failed: {}; made anew in {:.2f} s", failure.detail, to_seconds(backoff));
  life.restarts.push_back(now);
  clear_life();
  life.phase = Life::Phase::waiting_to_restart;
  life.stop_requested = false;
  life.restart_at = now + backoff;
}

/// Destroys the actor and what is pending in its name. Questions it has not answered are answered by this.
void Cell::clear_life() {
  Life& life = *life_;
  life.asks.clear();
  life.timers.clear();
  if (const auto failure = guarded(&name_end, 0, [&] { life.actor.reset(); })) {
    life.log.error("{}", failure->detail);
  }
  life.asks.clear();
  life.timers.clear();
  while (!life.watched.empty()) demonitor(*life.watched.begin());
}

void Cell::make_anew() {
  Life& life = *life_;
  life.restart_at.reset();
  life.phase = Life::Phase::running;
  const auto failure = guarded(&name_factory, 0, [&] { life.actor = life.factory(); });
  if (failure) return failed(*failure);
  life.actor->cell_ = this;
  run_guarded(&name_on_start, 0, [&] { life.actor->on_start(); });
  if (!life_ || life_->phase == Life::Phase::waiting_to_restart) return;
  while (held_ != nullptr) {
    Envelope* newest = std::exchange(held_, held_->next);
    newest->next = next_;
    next_ = newest;
  }
}

void Cell::begin_stop() {
  Life& life = *life_;
  life.stop_requested = false;
  if (life.phase == Life::Phase::waiting_to_restart)
    return end_life(DownCause::stopped, "stopped while it waited to be made anew");
  if (life.phase == Life::Phase::stopping) {
    if (life.hold_reason.empty()) end_life(DownCause::stopped, "");
    return;
  }
  life.phase = Life::Phase::stopping;
  run_guarded(&name_on_stop, 0, [&] { life.actor->on_stop(); });
  if (!life_) return;
  if (life.hold_reason.empty()) return end_life(DownCause::stopped, "");
  life.stop_by = core_.clock().now() + life.options.stop_deadline;
}

void Cell::end_life(DownCause cause, const std::string& detail) {
  account_.fetch_add(1ULL << kGenerationShift, std::memory_order_acq_rel);  // no new message from here on
  core_.scheduler().cancel_wake(*this);
  clear_life();
  const std::unique_ptr<Life> life = std::move(life_);
  core_.free_name(*life);
  for (const ActorRef& watcher : life->watchers) core_.tell_down(watcher, {life->self, cause, detail});
  // What is still in the mailbox is refused as the turn goes on.
  while (held_ != nullptr) {
    Envelope* newest = std::exchange(held_, held_->next);
    newest->next = next_;
    next_ = newest;
  }
  core_.forget(*life);
}

void Cell::refuse(EnvelopePtr envelope, const std::string& why) {
  if (envelope->kind == EnvelopeKind::message && envelope->ask_id != 0) {
    core_.answer_error(envelope->target, envelope->sender, envelope->ask_id, {ErrorCode::unavailable, why});
  } else if (envelope->kind == EnvelopeKind::monitor) {
    core_.tell_down(envelope->sender,
                    {envelope->target, DownCause::stopped, "was not alive when it was to be watched"});
  }
}

void Cell::abandon() {
  for (Envelope* list : {next_, held_, inbox_.exchange(nullptr)}) {
    while (list != nullptr) EnvelopePtr(std::exchange(list, list->next)).reset();
  }
  next_ = held_ = nullptr;
  if (!life_) return;
  life_->asks.clear();
  life_->timers.clear();
  (void)guarded(&name_end, 0, [&] { life_->actor.reset(); });
  life_.reset();
}

// ---- services of the actor

void Cell::answer_self(std::uint64_t ask_id, const Error& error) {
  core_.answer_error(life_->self, life_->self, ask_id, error);
}

void Cell::ask(ActorRef to, EnvelopePtr envelope, Duration deadline,
               UniqueFunction<void(Result<EnvelopePtr>)> on_reply) {
  const bool too_many = life_->asks.size() >= limits::kPendingAsks;
  const auto id = life_->asks.insert(core_.clock().now() + deadline, {std::move(on_reply), to, 0});
  if (too_many) {
    return answer_self(id, {ErrorCode::resource_exhausted, fmt::format("actor {} waits for {} answers already",
                                                                       life_->log.component(), limits::kPendingAsks)});
  }
  envelope->target = to;
  envelope->sender = life_->self;
  envelope->ask_id = id;
  const auto routed = core_.route(envelope, Lane::user);
  if (!routed) return answer_self(id, routed.error());
  if (auto* pending = life_->asks.find(id)) pending->link = *routed;
}

TimerId Cell::after(Duration delay, UniqueFunction<void()> then) {
  if (life_->timers.size() >= limits::kTimers) {
    life_->log.error("has {} timers already; one more is refused", limits::kTimers);
    return 0;
  }
  return life_->timers.insert(core_.clock().now() + std::max(delay, Duration{}), std::move(then));
}

void Cell::monitor(ActorRef ref) {
  if (!ref || life_->watched.contains(ref)) return;
  if (life_->watched.size() >= limits::kMonitors) {
    return life_->log.error("watches {} actors already; {} is not watched", limits::kMonitors, to_string(ref));
  }
  life_->watched.insert(ref);
  EnvelopePtr envelope = make_envelope(EnvelopeKind::monitor);
  envelope->target = ref;
  envelope->sender = life_->self;
  if (const auto routed = core_.route(envelope, Lane::reserved); !routed) {
    const bool here = ref.node == life_->self.node && ref.incarnation == life_->self.incarnation;
    tell_self_down(ref, here ? DownCause::stopped : DownCause::node_lost, routed.error().message());
  }
}

void Cell::demonitor(ActorRef ref) {
  if (life_->watched.erase(ref) == 0) return;
  EnvelopePtr envelope = make_envelope(EnvelopeKind::demonitor);
  envelope->target = ref;
  envelope->sender = life_->self;
  (void)core_.route(envelope, Lane::reserved);  // a dead actor has forgotten its watchers
}

void Cell::tell_self_down(ActorRef ref, DownCause cause, std::string detail) {
  core_.tell_down(life_->self, {ref, cause, std::move(detail)});
}

}  // namespace tandem::runtime
