#include "runtime/actor/runtime.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>

#include "runtime/actor/core.hpp"

namespace tandem::runtime {
namespace {

/// Starts something with a callback and waits for it; a callback that is dropped counts as unavailable.
template <class T, class Start>
Result<T> wait_for(Core& core, Start start) {
  if (!core.scheduler().may_block()) {
    return fail(ErrorCode::failed_precondition, "a thread that runs actors must not block; use the callback");
  }
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Result<T>> result;
    void set(Result<T> value) {
      const std::lock_guard lock(mutex);
      if (!result) result.emplace(std::move(value));
      changed.notify_all();
    }
  };
  struct Dropped {
    std::shared_ptr<State> state;
    ~Dropped() { state->set(fail(ErrorCode::unavailable, "the runtime shuts down")); }
  };
  auto state = std::make_shared<State>();
  start([state, guard = std::make_shared<Dropped>(state)](Result<T> result) { state->set(std::move(result)); });
  std::unique_lock lock(state->mutex);
  state->changed.wait(lock, [&] { return state->result.has_value(); });
  return std::move(*state->result);
}

}  // namespace

Runtime::Runtime(RuntimeOptions options) : Runtime(std::move(options), {}) {}

Runtime::Runtime(RuntimeOptions options, RuntimePlatform platform)
    : core_(std::make_unique<Core>(*this, std::move(options), std::move(platform))) {}

Runtime::~Runtime() {
  if (!core_->scheduler().may_block()) return;  // a simulated node ends as its simulation says
  if (const auto ended = shutdown(limits::kStopDeadline); !ended) core_->log().error("{}", ended.error().message());
}

NodeId Runtime::id() const noexcept { return {core_->options().node, core_->options().incarnation}; }
const Clock& Runtime::clock() const noexcept { return core_->clock(); }
const Logger& Runtime::log() const noexcept { return core_->log(); }

ActorRef Runtime::spawn_supervised(SpawnOptions options, Factory factory) {
  return core_->spawn(std::move(options), {}, std::move(factory));
}
ActorRef Runtime::spawn_once(SpawnOptions options, UniqueFunction<std::unique_ptr<Actor>()> make) {
  return core_->spawn(std::move(options), std::move(make), {});
}
ActorRef Runtime::lookup(std::string_view name) const { return core_->lookup(name); }

Result<> Runtime::send_envelope(ActorRef to, EnvelopePtr envelope) {
  envelope->target = to;
  const auto routed = core_->route(envelope, Lane::user);
  if (!routed) return forward_error(routed);
  return {};
}
Result<EnvelopePtr> Runtime::ask_envelope_blocking(ActorRef to, EnvelopePtr envelope, Duration deadline) {
  return core_->ask_blocking(to, std::move(envelope), deadline);
}

Result<> Runtime::stop(ActorRef ref) { return core_->stop(ref); }
Result<> Runtime::kill(ActorRef ref, DownCause cause, std::string detail) {
  return core_->kill(ref, cause, std::move(detail));
}

Result<std::string> Runtime::listen(const std::string& address) { return core_->links().listen(address); }
void Runtime::connect(const std::string& address, std::function<void(Result<NodeId>)> done) {
  core_->links().connect(address, std::move(done));
}
Result<NodeId> Runtime::connect_blocking(const std::string& address) {
  return wait_for<NodeId>(*core_, [&](auto done) { connect(address, std::move(done)); });
}
void Runtime::disconnect(std::uint64_t node) { core_->links().disconnect(node, "disconnected on request"); }

void Runtime::remote(std::uint64_t node, const std::string& name, Duration deadline,
                     std::function<void(Result<ActorRef>)> done) {
  core_->links().remote(node, name, deadline, std::move(done));
}
Result<ActorRef> Runtime::remote_blocking(std::uint64_t node, const std::string& name, Duration deadline) {
  return wait_for<ActorRef>(*core_, [&](auto done) { remote(node, name, deadline, std::move(done)); });
}

void Runtime::accept_streams(Purpose purpose, TakeStream take) {
  core_->links().accept_streams(purpose, std::move(take));
}
void Runtime::open_stream(std::uint64_t node, Purpose purpose, Transport::OnStream done) {
  core_->links().open_stream(node, purpose, std::move(done));
}

void Runtime::on_node_up(std::function<void(NodeId)> tell) { core_->links().on_node_up(std::move(tell)); }
void Runtime::on_node_down(std::function<void(NodeId, const Error&)> tell) {
  core_->links().on_node_down(std::move(tell));
}

std::size_t Runtime::actors() const { return core_->actors(); }
Result<> Runtime::shutdown(Duration deadline) { return core_->shutdown(deadline); }

}  // namespace tandem::runtime
