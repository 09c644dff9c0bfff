#include "runtime/actor/core.hpp"

#include <algorithm>
#include <utility>

#include "runtime/actor/asio_scheduler.hpp"
#include "runtime/wire/hello.hpp"

namespace tandem::runtime {
namespace {

/// Asks in the name of plain threads.
class Gateway final : public Actor {};

/// Resolves a waiting thread, with an error if it is destroyed before anything else does.
class Promise {
 public:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Result<EnvelopePtr>> answer;
  };
  explicit Promise(std::shared_ptr<State> state) : state_(std::move(state)) {}
  Promise(Promise&&) noexcept = default;
  Promise& operator=(Promise&&) = delete;
  ~Promise() {
    if (state_) set(fail(ErrorCode::unavailable, "the runtime shuts down"));
  }
  void set(Result<EnvelopePtr> answer) {
    const auto state = std::exchange(state_, nullptr);
    const std::lock_guard lock(state->mutex);
    state->answer.emplace(std::move(answer));
    state->changed.notify_all();
  }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace

Core::Core(Runtime& runtime, RuntimeOptions options, RuntimePlatform platform)
    : runtime_(runtime),
      options_(std::move(options)),
      platform_(std::move(platform)),
      chunks_(std::make_unique<std::atomic<Chunk*>[]>(kChunks)) {
  if (options_.clock == nullptr) own_clock_ = std::make_unique<SystemClock>();
  clock_ = own_clock_ ? own_clock_.get() : options_.clock;
  scheduler_ = platform_.scheduler;
  Transport* transport = platform_.transport;
  if (scheduler_ == nullptr) {
    auto asio = make_asio_platform(std::clamp(options_.threads, 1, limits::kThreads), *clock_, options_.token);
    own_scheduler_ = std::move(asio.scheduler);
    own_transport_ = std::move(asio.transport);
    scheduler_ = own_scheduler_.get();
    transport = own_transport_.get();
  }
  auto nonce = platform_.nonce;
  if (!nonce) nonce = [](std::byte* into, std::size_t count) { secure_random({into, count}); };
  links_ = std::make_unique<NodeLinks>(*this, *transport, std::move(nonce));
  gateway_ = spawn(
      {}, [] { return std::make_unique<Gateway>(); }, {}, true);
}

Core::~Core() {
  scheduler_->stop();
  down_.store(true);
  links_->abandon();
  for (const auto& chunk : owned_chunks_) {
    for (const auto& cell : *chunk) scheduler_->cancel_wake(*cell);
  }
  // All actors go before any cell does: their destructors may still look at each other's.
  for (const auto& chunk : owned_chunks_) {
    for (const auto& cell : *chunk) cell->abandon();
  }
}

// ---- routes

Cell* Core::find(std::uint64_t local) const noexcept {
  const auto index = static_cast<std::uint32_t>(local);
  if (index >= limits::kActors) return nullptr;
  const Chunk* chunk = chunks_[index / kChunkCells].load(std::memory_order_acquire);
  return chunk != nullptr ? (*chunk)[index % kChunkCells].get() : nullptr;
}

Result<std::uint64_t> Core::route(EnvelopePtr& envelope, Lane lane) {
  if (!envelope->target) return fail(ErrorCode::invalid_argument, "a message to nobody");
  if (envelope->target.node != options_.node) {
    if (down_.load(std::memory_order_relaxed)) return fail(ErrorCode::unavailable, "the runtime has shut down");
    return links_->route(envelope);
  }
  if (auto delivered = deliver_here(envelope, lane); !delivered) return forward_error(delivered);
  return std::uint64_t{0};
}

Result<> Core::deliver_here(EnvelopePtr& envelope, Lane lane) {
  if (envelope->target.incarnation != options_.incarnation) {
    return fail(ErrorCode::unavailable, "actor {} belonged to an earlier life of its node",
                to_string(envelope->target));
  }
  Cell* cell = find(envelope->target.local);
  if (cell == nullptr) return fail(ErrorCode::unavailable, "there is no actor {}", to_string(envelope->target));
  if (down_.load(std::memory_order_relaxed)) return fail(ErrorCode::unavailable, "the runtime has shut down");
  return cell->push(envelope, lane);
}

void Core::answer_error(ActorRef from, ActorRef asker, std::uint64_t ask_id, const Error& error) {
  EnvelopePtr envelope = make_envelope(EnvelopeKind::error);
  envelope->target = asker;
  envelope->sender = from;
  envelope->ask_id = ask_id;
  envelope->controls().error = error;
  (void)route(envelope, Lane::reserved);
}

void Core::tell_down(ActorRef watcher, const Down& down) {
  EnvelopePtr envelope = make_envelope(EnvelopeKind::down);
  envelope->target = watcher;
  envelope->sender = down.ref;
  envelope->controls().down = down;
  (void)route(envelope, Lane::reserved);
}

void Core::link_lost(std::uint64_t link, NodeId node, const std::string& why) {
  std::vector<std::uint64_t> locals;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [local, living] : living_) locals.push_back(local);
  }
  for (const std::uint64_t local : locals) {
    EnvelopePtr envelope = make_envelope(EnvelopeKind::link_lost);
    envelope->target = {options_.node, options_.incarnation, local};
    envelope->link = link;
    envelope->controls().down = {{node.node, node.incarnation, 0}, DownCause::node_lost, why};
    (void)deliver_here(envelope, Lane::reserved);
  }
}

// ---- actors

Result<Cell*> Core::free_cell_locked() {
  if (free_.empty()) {
    if (cells_ >= limits::kActors)
      return fail(ErrorCode::resource_exhausted, "{} actors live already", limits::kActors);
    auto chunk = std::make_unique<Chunk>();
    for (auto& cell : *chunk) {
      free_.push_back(cells_);
      cell = std::make_unique<Cell>(*this, cells_++);
    }
    chunks_[(cells_ - 1) / kChunkCells].store(chunk.get(), std::memory_order_release);
    owned_chunks_.push_back(std::move(chunk));
  }
  const std::uint32_t index = free_.front();
  free_.pop_front();
  return find(index);
}

ActorRef Core::spawn(SpawnOptions options, UniqueFunction<std::unique_ptr<Actor>()> make, Runtime::Factory factory,
                     bool hidden) {
  auto life = std::make_unique<Life>();
  try {
    life->actor = factory ? factory() : make();
  } catch (const std::exception& thrown) {
    log().error("cannot spawn actor '{}': {}", options.name, thrown.what());
    return {};
  }
  ActorRef ref;
  {
    const std::lock_guard lock(mutex_);
    Result<> allowed;
    if (closing_) allowed = fail(ErrorCode::failed_precondition, "the runtime shuts down");
    if (options.name.size() > limits::kNameBytes) {
      allowed = fail(ErrorCode::invalid_argument, "a name takes at most {} bytes", limits::kNameBytes);
    }
    if (!options.name.empty() && names_.contains(options.name)) {
      allowed = fail(ErrorCode::already_exists, "the name is taken");
    }
    Result<Cell*> cell = allowed ? free_cell_locked() : Result<Cell*>(forward_error(allowed));
    if (!cell) {
      log().error("cannot spawn actor '{}': {}", options.name, cell.error().message());
      return {};
    }
    ref = {options_.node, options_.incarnation, (*cell)->open(options)};
    living_[ref.local] = {options.name, "", hidden};
    if (hidden) ++hidden_;
    if (!options.name.empty()) names_.emplace(options.name, ref);
  }
  life->self = ref;
  life->log = log().named(options.name.empty() ? to_string(ref) : options.name);
  life->options = std::move(options);
  life->factory = std::move(factory);
  life->hidden = hidden;
  EnvelopePtr start = make_envelope(EnvelopeKind::start);
  start->target = ref;
  start->controls().life = std::move(life);
  (void)deliver_here(start, Lane::reserved);
  return ref;
}

ActorRef Core::lookup(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto found = names_.find(std::string(name));
  return found != names_.end() ? found->second : ActorRef{};
}

Result<> Core::push_urgent(ActorRef ref, EnvelopePtr envelope) {
  envelope->target = ref;
  Cell* cell = ref.node == options_.node && ref.incarnation == options_.incarnation ? find(ref.local) : nullptr;
  if (cell == nullptr) return fail(ErrorCode::invalid_argument, "actor {} is not of this node", to_string(ref));
  return cell->push_urgent(envelope);
}

Result<> Core::stop(ActorRef ref) { return push_urgent(ref, make_envelope(EnvelopeKind::stop)); }

Result<> Core::kill(ActorRef ref, DownCause cause, std::string detail) {
  EnvelopePtr envelope = make_envelope(EnvelopeKind::kill);
  envelope->controls().down = {ref, cause, std::move(detail)};
  return push_urgent(ref, std::move(envelope));
}

void Core::free_name(const Life& life) {
  const std::lock_guard lock(mutex_);
  if (!life.options.name.empty()) names_.erase(life.options.name);
}

void Core::forget(const Life& life) {
  const std::lock_guard lock(mutex_);
  living_.erase(life.self.local);
  if (life.hidden) --hidden_;
  changed_.notify_all();
}

void Core::recycle(std::uint32_t index) {
  const std::lock_guard lock(mutex_);
  free_.push_back(index);
}

void Core::note_hold(std::uint64_t local, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (const auto found = living_.find(local); found != living_.end()) found->second.hold_reason = reason;
}

std::size_t Core::actors() const {
  const std::lock_guard lock(mutex_);
  return actors_locked();
}

Result<EnvelopePtr> Core::ask_blocking(ActorRef to, EnvelopePtr envelope, Duration deadline) {
  if (!scheduler_->may_block()) {
    return fail(ErrorCode::failed_precondition, "a blocking ask from a thread that runs actors; use Actor::ask");
  }
  auto state = std::make_shared<Promise::State>();
  EnvelopePtr call = make_envelope(EnvelopeKind::call);
  call->target = gateway_;
  call->controls().call = [to, envelope = std::move(envelope), deadline, promise = Promise(state)](Cell& cell) mutable {
    cell.ask(to, std::move(envelope), deadline,
             [promise = std::move(promise)](Result<EnvelopePtr> answer) mutable { promise.set(std::move(answer)); });
  };
  if (auto pushed = deliver_here(call, Lane::reserved); !pushed) return forward_error(pushed);
  std::unique_lock lock(state->mutex);
  state->changed.wait(lock, [&] { return state->answer.has_value(); });
  return std::move(*state->answer);
}

// ---- the end

std::string Core::blockers_locked() const {
  constexpr std::size_t kNamed = 8;
  std::string text;
  std::size_t named = 0;
  for (const auto& [local, living] : living_) {
    if (living.hidden) continue;
    if (named++ == kNamed) {
      text += fmt::format(" and {} more", actors_locked() - kNamed);
      break;
    }
    const ActorRef ref{options_.node, options_.incarnation, local};
    text += fmt::format("{}{} ({})", named > 1 ? ", " : "", living.name.empty() ? to_string(ref) : living.name,
                        living.hold_reason.empty() ? std::string(find(local)->activity()) : living.hold_reason);
  }
  return text;
}

Result<> Core::shutdown(Duration deadline) {
  if (down_.load()) return {};
  std::vector<std::uint64_t> locals;
  std::unique_lock lock(mutex_);
  closing_ = true;
  for (const auto& [local, living] : living_) {
    if (!living.hidden) locals.push_back(local);
  }
  lock.unlock();
  for (const std::uint64_t local : locals) (void)stop({options_.node, options_.incarnation, local});
  lock.lock();
  const auto all_ended = [this] { return actors_locked() == 0; };
  if (scheduler_->may_block()) changed_.wait_for(lock, deadline, all_ended);
  if (!all_ended()) {
    return fail(ErrorCode::deadline_exceeded, "{} actors have not stopped: {}", actors_locked(), blockers_locked());
  }
  lock.unlock();
  links_->begin_shutdown();
  if (!scheduler_->may_block()) return {};
  links_->await_shutdown(limits::kFlushDeadline);
  scheduler_->stop();
  down_.store(true);
  return {};
}

}  // namespace tandem::runtime
