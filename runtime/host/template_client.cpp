#include "runtime/host/template_client.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "runtime/base/byte_size.hpp"
#include "runtime/base/limits.hpp"
#include "runtime/host/control_frame.hpp"
#include "runtime/host/memory.hpp"
#include "runtime/host/template_server.hpp"
#include "schemas/host.capnp.h"

namespace tandem::runtime {

namespace {

constexpr std::size_t kReadBytes = 64U << 10;
constexpr Duration kDestructorDeadline = std::chrono::seconds(1);

/// What the client knows of a child that is alive.
struct Child {
  std::optional<KillReason> asked;  ///< we have killed it
  std::string why;                  ///< of a kill at its memory limit
  std::int64_t memory_limit_bytes = 0;
  std::unique_ptr<MemoryGroup> group;  ///< the kernel keeps the limit too

  [[nodiscard]] bool ended_by_its_group() const { return group && group->out_of_memory_kills() > 0; }
};

/// Why a child ended. A kill counts as asked for only if a kill is what ended it.
std::pair<ExitCause, std::string> explain(const ExitStatus& status, bool kernel_out_of_memory, const Child& child) {
  if (status.signal == 0) {
    if (status.code == kOutOfMemoryExitCode) return {ExitCause::out_of_memory, "an allocation failed"};
    return {status.code == 0 ? ExitCause::stopped : ExitCause::failed, status.describe()};
  }
  if (status.signal == SIGKILL && child.asked) {
    if (*child.asked == KillReason::requested) return {ExitCause::killed, "killed on request"};
    return {ExitCause::out_of_memory, child.why.empty() ? "killed at its memory limit" : child.why};
  }
  if (status.signal == SIGKILL && child.ended_by_its_group()) {
    return {ExitCause::out_of_memory,
            fmt::format("exceeded its memory limit of {}", format_byte_size(child.memory_limit_bytes))};
  }
  if (kernel_out_of_memory) return {ExitCause::out_of_memory, "killed by the kernel for want of memory"};
  const bool from_outside =
      status.signal == SIGKILL || status.signal == SIGTERM || status.signal == SIGINT || status.signal == SIGHUP;
  return {from_outside ? ExitCause::killed : ExitCause::failed, status.describe()};
}

capnp::Data::Reader data_of(std::string_view bytes) {
  return {reinterpret_cast<const capnp::byte*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string_view to_string(ExitCause cause) noexcept {
  switch (cause) {
    case ExitCause::stopped:
      return "stopped";
    case ExitCause::failed:
      return "failed";
    case ExitCause::killed:
      return "killed";
    case ExitCause::out_of_memory:
      return "out_of_memory";
  }
  return "failed";
}

/// The thread and what it shares with the callers. It launches the template itself: the template's parent-death
/// signal follows the launching thread, so that thread must live as long as the template.
class TemplateClient::Loop {
 public:
  Loop(ProcessLauncher& launcher, FileSystem& files, const Clock& clock, ProcessSpec spec, OnNotice on_notice)
      : launcher_(launcher), files_(files), clock_(clock), spec_(std::move(spec)), on_notice_(std::move(on_notice)) {}

  ~Loop() {
    if (thread_.joinable()) thread_.join();
    for (const int fd : {control_, wake_}) {
      if (fd >= 0) ::close(fd);
    }
  }

  Result<> start() {
    wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_ < 0) return tl::unexpected<Error>(system_error("template: eventfd", errno));
    std::promise<Result<>> launched;
    auto outcome = launched.get_future();
    thread_ = std::thread([this, launched = std::move(launched)]() mutable {
      auto result = launch();
      const bool running = result.has_value();
      launched.set_value(std::move(result));
      if (running) run();
    });
    return outcome.get();
  }

  [[nodiscard]] ProcessIdentity identity() const { return process_->identity(); }

  Result<> request(capnp::MessageBuilder& message) {
    auto frame = encode_control_frame(message);
    if (!frame) return forward_error(frame);
    const std::lock_guard lock(mutex_);
    if (ended_ || stopping_) return fail(ErrorCode::unavailable, "template {}: has ended", spec_.argv[0]);
    if (outbound_.size() >= limits::kTemplateRequests) {
      return fail(ErrorCode::resource_exhausted, "template {}: {} requests wait already", spec_.argv[0],
                  outbound_.size());
    }
    outbound_.push_back(std::move(*frame));
    wake();
    return {};
  }

  std::uint64_t new_ticket() {
    const std::lock_guard lock(mutex_);
    return ++last_ticket_;
  }

  Result<> kill_child(ProcessIdentity child, KillReason reason) {
    const std::lock_guard lock(mutex_);
    const auto known = children_.find(child);
    if (known == children_.end()) return fail(ErrorCode::not_found, "process {}: has ended", child.pid);
    if (auto sent = signal_process(child, SIGKILL); !sent) return sent;
    if (!known->second.asked) known->second.asked = reason;
    return {};
  }

  Result<> limit_child(ProcessIdentity child, std::int64_t memory_bytes) {
    if (memory_bytes < 1) return fail(ErrorCode::invalid_argument, "a memory limit of {} bytes", memory_bytes);
    auto group = group_for(child, memory_bytes);
    const std::lock_guard lock(mutex_);
    const auto known = children_.find(child);
    if (known == children_.end()) return fail(ErrorCode::not_found, "process {}: has ended", child.pid);
    known->second.memory_limit_bytes = memory_bytes;
    known->second.group = std::move(group);
    wake();
    return {};
  }

  void shutdown(Duration deadline) {
    std::unique_lock lock(mutex_);
    const MonotonicTime kill_at = clock_.now() + deadline;
    kill_at_ = stopping_ ? std::min(kill_at_, kill_at) : kill_at;
    stopping_ = true;
    wake();
    if (std::this_thread::get_id() == thread_.get_id()) return;
    over_.wait(lock, [this] { return ended_; });
  }

 private:
  Result<> launch() {
    sigset_t every;
    ::sigfillset(&every);
    ::pthread_sigmask(SIG_BLOCK, &every, nullptr);  // handlers run on the program's own threads
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      return tl::unexpected<Error>(system_error("template: socketpair", errno));
    }
    control_ = ends[0];
    spec_.descriptors[kTemplateControlDescriptor] = ends[1];
    spec_.new_process_group = true;
    spec_.parent_death_signal = SIGKILL;
    auto process = launcher_.spawn(spec_);
    ::close(ends[1]);
    if (!process) return forward_error(process, "template");
    process_ = std::move(*process);
    return {};
  }

  /// Null where control groups are not ours to make: then our own watch has to do.
  std::unique_ptr<MemoryGroup> group_for(ProcessIdentity child, std::int64_t memory_bytes) {
    if (!stale_groups_removed_.exchange(true)) MemoryGroup::remove_stale(files_);
    auto made = MemoryGroup::create(files_, MemoryGroup::name_for(::getpid(), child.pid), memory_bytes);
    if (!made || !made->add(child.pid)) return nullptr;
    return std::make_unique<MemoryGroup>(std::move(*made));
  }

  /// Kills the children that hold more than they may.
  void enforce_memory_limits() {
    const bool whole_groups = ++memory_looks_ % limits::kMemoryGroupLooks == 0;
    const std::lock_guard lock(mutex_);
    for (auto& [identity, child] : children_) {
      if (child.memory_limit_bytes == 0 || child.asked) continue;
      const auto held =
          whole_groups ? group_resident_bytes(files_, identity.pid) : resident_bytes(files_, identity.pid);
      if (!held || *held <= child.memory_limit_bytes || !signal_process(identity, SIGKILL)) continue;
      child.asked = KillReason::memory_limit;
      child.why = fmt::format("exceeded its memory limit of {} (held {})", format_byte_size(child.memory_limit_bytes),
                              format_byte_size(*held));
    }
  }

  /// Under the lock.
  [[nodiscard]] bool watches_memory() const {
    return std::any_of(children_.begin(), children_.end(),
                       [](const auto& entry) { return entry.second.memory_limit_bytes > 0 && !entry.second.asked; });
  }

  void run() {
    std::string trouble;
    while (trouble.empty()) {
      const auto going_on = turn();
      if (!going_on)
        trouble = going_on.error().message();
      else if (!*going_on)
        break;
    }
    if (!trouble.empty()) (void)process_->kill_group(SIGKILL);
    finish(std::move(trouble));
  }

  /// False at the end of the template's stream.
  Result<bool> turn() {
    int timeout_ms = -1;
    short events = POLLIN;
    bool watching = false;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) {
        if (!std::exchange(told_to_end_, true)) ::shutdown(control_, SHUT_WR);
        timeout_ms = remaining_ms();
        if (timeout_ms == 0 && !std::exchange(killed_, true)) (void)process_->kill_group(SIGKILL);
        if (killed_) timeout_ms = -1;  // its end of the stream closes now
      } else if (!outbound_.empty()) {
        events |= POLLOUT;
      }
      watching = !stopping_ && watches_memory();
    }
    if (watching) timeout_ms = watch_memory();
    pollfd waiting[] = {{control_, events, 0}, {wake_, POLLIN, 0}};
    if (::poll(waiting, 2, timeout_ms) < 0) {
      if (errno == EINTR) return true;
      return tl::unexpected<Error>(system_error("template: poll", errno));
    }
    if (waiting[1].revents != 0) {
      std::uint64_t count;
      [[maybe_unused]] const auto drained = ::read(wake_, &count, sizeof count);
    }
    if ((waiting[0].revents & POLLOUT) != 0) write_requests();
    if ((waiting[0].revents & ~POLLOUT) == 0) return true;
    return read_notices();
  }

  [[nodiscard]] int remaining_ms() const { return ms_until(kill_at_); }

  [[nodiscard]] int ms_until(MonotonicTime time) const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(time - clock_.now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }

  /// Looks if it is time to; milliseconds until the next look.
  [[nodiscard]] int watch_memory() {
    if (ms_until(next_memory_look_) == 0) {
      enforce_memory_limits();
      next_memory_look_ = clock_.now() + limits::kMemoryWatchInterval;
    }
    return ms_until(next_memory_look_);
  }

  /// As much as the socket takes. A broken stream is found by reading.
  void write_requests() {
    const std::lock_guard lock(mutex_);
    while (!outbound_.empty() && !told_to_end_) {
      std::string& frame = outbound_.front();
      const ssize_t written = ::send(control_, frame.data(), frame.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0 && errno == EAGAIN) return;
      if (written < 0) {
        outbound_.clear();
        return;
      }
      frame.erase(0, static_cast<std::size_t>(written));
      if (frame.empty()) outbound_.pop_front();
    }
  }

  Result<bool> read_notices() {
    char bytes[kReadBytes];
    const ssize_t count = ::recv(control_, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (count <= 0) return false;
    reader_.feed({bytes, static_cast<std::size_t>(count)});
    for (;;) {
      std::optional<TemplateNotice> notice;
      const auto more = reader_.next([&](capnp::MessageReader& message) {
        notice = decode(message.getRoot<schemas::TemplateNotice>());
        return Result<>{};
      });
      if (!more) return forward_error(more);
      if (!*more) return true;
      if (notice) on_notice_(*notice);
    }
  }

  std::optional<TemplateNotice> decode(schemas::TemplateNotice::Reader notice) {
    switch (notice.which()) {
      case schemas::TemplateNotice::READY:
        return TemplateReady{};
      case schemas::TemplateNotice::PREPARED: {
        TemplatePrepared prepared;
        const auto told = notice.getPrepared();
        if (told.getError().size() > 0) prepared.error = Error(ErrorCode::failed_precondition, told.getError().cStr());
        prepared.thread_count = told.getThreadCount();
        return prepared;
      }
      case schemas::TemplateNotice::FORKED: {
        const auto told = notice.getForked();
        const ProcessIdentity child{told.getPid(), told.getStartTime()};
        const std::lock_guard lock(mutex_);
        children_.try_emplace(child);
        return ChildForked{told.getTicket(), child};
      }
      case schemas::TemplateNotice::FORK_FAILED: {
        const auto told = notice.getForkFailed();
        return ChildForkFailed{told.getTicket(), Error(ErrorCode::resource_exhausted, told.getError().cStr())};
      }
      case schemas::TemplateNotice::EXITED:
        return decode_exit(notice.getExited());
    }
    return std::nullopt;
  }

  ChildExited decode_exit(schemas::ChildExit::Reader told) {
    ChildExited exited;
    exited.child = {told.getPid(), told.getStartTime()};
    exited.status.code = told.getCode();
    exited.status.signal = told.getSignal();
    exited.status.core_dumped = told.getCoreDumped();
    exited.status.user_seconds = told.getUserSeconds();
    exited.status.system_seconds = told.getSystemSeconds();
    exited.status.peak_resident_bytes = told.getPeakResidentBytes();
    const std::lock_guard lock(mutex_);
    Child child;
    if (const auto known = children_.find(exited.child); known != children_.end()) {
      child = std::move(known->second);
      children_.erase(known);
    }
    if (!child.asked && told_to_end_) child.asked = KillReason::requested;  // the template ends its hosts as told
    std::tie(exited.cause, exited.detail) = explain(exited.status, told.getOutOfMemory(), child);
    return exited;
  }

  void finish(std::string trouble) {
    auto status = process_->wait_for(limits::kTemplateExitDeadline);
    if (!status || !*status) {
      (void)process_->kill_group(SIGKILL);
      if (trouble.empty()) trouble = "did not end with its stream";
    }
    const auto final_status = process_->wait();
    TemplateEnded ended;
    ended.detail = fmt::format("template {}: {}", spec_.argv[0],
                               final_status ? final_status->describe() : final_status.error().message());
    if (!trouble.empty()) ended.detail += "; " + trouble;
    {
      const std::lock_guard lock(mutex_);
      ended.requested = std::exchange(stopping_, true);  // no request is taken any more
      children_.clear();
      outbound_.clear();
    }
    on_notice_(TemplateNotice(std::move(ended)));
    const std::lock_guard lock(mutex_);
    ended_ = true;
    over_.notify_all();
  }

  void wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
  }

  ProcessLauncher& launcher_;
  FileSystem& files_;
  const Clock& clock_;
  ProcessSpec spec_;
  const OnNotice on_notice_;
  int control_ = -1;
  int wake_ = -1;
  std::unique_ptr<Process> process_;
  ControlFrameReader reader_;
  bool told_to_end_ = false;
  bool killed_ = false;
  int memory_looks_ = 0;
  MonotonicTime next_memory_look_{};
  std::atomic<bool> stale_groups_removed_ = false;

  std::mutex mutex_;
  std::condition_variable over_;
  std::deque<std::string> outbound_;
  std::map<ProcessIdentity, Child> children_;  ///< alive
  std::uint64_t last_ticket_ = 0;
  bool stopping_ = false;
  MonotonicTime kill_at_;
  bool ended_ = false;
  std::thread thread_;
};

TemplateClient::TemplateClient(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}

TemplateClient::~TemplateClient() { loop_->shutdown(kDestructorDeadline); }

Result<std::unique_ptr<TemplateClient>> TemplateClient::launch(ProcessLauncher& launcher, FileSystem& files,
                                                               const Clock& clock, ProcessSpec spec,
                                                               OnNotice on_notice) {
  auto loop = std::make_unique<Loop>(launcher, files, clock, std::move(spec), std::move(on_notice));
  if (auto started = loop->start(); !started) return forward_error(started);
  return std::unique_ptr<TemplateClient>(new TemplateClient(std::move(loop)));
}

ProcessIdentity TemplateClient::identity() const { return loop_->identity(); }

Result<> TemplateClient::prepare(std::string_view payload) {
  capnp::MallocMessageBuilder message;
  message.initRoot<schemas::TemplateRequest>().setPrepare(data_of(payload));
  return loop_->request(message);
}

Result<std::uint64_t> TemplateClient::fork_child(std::string_view payload) {
  const std::uint64_t ticket = loop_->new_ticket();
  capnp::MallocMessageBuilder message;
  auto order = message.initRoot<schemas::TemplateRequest>().initFork();
  order.setTicket(ticket);
  order.setPayload(data_of(payload));
  if (auto asked = loop_->request(message); !asked) return forward_error(asked);
  return ticket;
}

Result<> TemplateClient::kill_child(ProcessIdentity child, KillReason reason) {
  return loop_->kill_child(child, reason);
}

Result<> TemplateClient::limit_child(ProcessIdentity child, std::int64_t memory_bytes) {
  return loop_->limit_child(child, memory_bytes);
}

void TemplateClient::shutdown(Duration deadline) { loop_->shutdown(deadline); }

}  // namespace tandem::runtime
