#include "runtime/host/template_server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <string>

#include "runtime/base/process_launcher.hpp"
#include "runtime/host/affinity.hpp"
#include "runtime/host/control_frame.hpp"
#include "runtime/host/memory.hpp"
#include "schemas/host.capnp.h"

namespace tandem::runtime {

namespace {

constexpr std::size_t kReadBytes = 64U << 10;

std::string_view view_of(capnp::Data::Reader data) {
  return {reinterpret_cast<const char*>(data.begin()), data.size()};
}

class TemplateServer {
 public:
  TemplateServer(int control, const TemplateCallbacks& callbacks, const FileSystem& files)
      : control_(control), callbacks_(callbacks), own_pid_(::getpid()), out_of_memory_(files) {}
  ~TemplateServer() {
    if (signals_ >= 0) ::close(signals_);
  }

  Result<> serve() {
    if (auto opened = open_signals(); !opened) return opened;
    capnp::MallocMessageBuilder message;
    message.initRoot<schemas::TemplateNotice>().setReady();
    if (auto told = write_control_frame(control_, message); !told) return {};  // the worker is gone already
    Result<> outcome;
    while (outcome && !worker_gone_) outcome = turn();
    end_children();
    return outcome;
  }

 private:
  Result<> open_signals() {
    sigset_t child_signal;
    ::sigemptyset(&child_signal);
    ::sigaddset(&child_signal, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child_signal, nullptr);
    signals_ = ::signalfd(-1, &child_signal, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals_ < 0) return tl::unexpected<Error>(system_error("template: signalfd", errno));
    return {};
  }

  Result<> turn() {
    pollfd waiting[] = {{control_, POLLIN, 0}, {signals_, POLLIN, 0}};
    if (::poll(waiting, 2, -1) < 0) {
      if (errno == EINTR) return {};
      return tl::unexpected<Error>(system_error("template: poll", errno));
    }
    if (waiting[1].revents != 0) {
      signalfd_siginfo infos[8];
      while (::read(signals_, infos, sizeof infos) > 0) continue;  // signals merge: what ended is asked of waitid
      reap_ended();
    }
    return waiting[0].revents != 0 ? read_requests() : Result<>{};
  }

  Result<> read_requests() {
    char bytes[kReadBytes];
    const ssize_t count = ::recv(control_, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return {};
    if (count <= 0) {
      worker_gone_ = true;
      return {};
    }
    reader_.feed({bytes, static_cast<std::size_t>(count)});
    for (;;) {
      const auto more = reader_.next([this](capnp::MessageReader& message) { return serve_request(message); });
      if (!more) return forward_error(more);
      if (!*more || worker_gone_) return {};
    }
  }

  Result<> serve_request(capnp::MessageReader& message) {
    const auto request = message.getRoot<schemas::TemplateRequest>();
    switch (request.which()) {
      case schemas::TemplateRequest::PREPARE:
        prepare(view_of(request.getPrepare()));
        return {};
      case schemas::TemplateRequest::FORK:
        fork_host(request.getFork().getTicket(), view_of(request.getFork().getPayload()));
        return {};
    }
    return fail(ErrorCode::data_loss, "template: request {} is unknown", static_cast<int>(request.which()));
  }

  void prepare(std::string_view payload) {
    Result<> prepared;
    try {
      prepared = callbacks_.prepare(payload);
    } catch (const std::exception& exception) {
      prepared = fail(ErrorCode::internal, "{}", exception.what());
    }
    capnp::MallocMessageBuilder message;
    auto notice = message.initRoot<schemas::TemplateNotice>().initPrepared();
    if (!prepared) notice.setError(prepared.error().message().c_str());
    const auto threads = process_threads();
    notice.setThreadCount(threads ? static_cast<std::uint32_t>(threads->size()) : 1);
    tell(message);
  }

  void fork_host(std::uint64_t ticket, std::string_view payload) {
    std::fflush(nullptr);  // or the child would write it a second time
    const pid_t pid = ::fork();
    if (pid == 0) run_host(payload);
    capnp::MallocMessageBuilder message;
    auto notice = message.initRoot<schemas::TemplateNotice>();
    if (pid < 0) {
      auto failed = notice.initForkFailed();
      failed.setTicket(ticket);
      failed.setError(system_error("fork", errno).message().c_str());
    } else {
      ::setpgid(pid, pid);  // here and in the child: it holds whichever comes first
      const auto identity = identify_process(pid).value_or(ProcessIdentity{pid, 0});
      children_.emplace(pid, identity);
      auto forked = notice.initForked();
      forked.setTicket(ticket);
      forked.setPid(pid);
      forked.setStartTime(identity.start_time);
    }
    tell(message);
  }

  [[noreturn]] void run_host(std::string_view payload) {
    ::setpgid(0, 0);
    if (!bind_to_parent(own_pid_, SIGKILL)) ::_exit(1);
    ::close(control_);
    ::close(signals_);
    reset_signals();
    int code = 1;
    try {
      code = callbacks_.child_main(payload);
    } catch (const std::bad_alloc&) {
      code = kOutOfMemoryExitCode;
    } catch (const std::exception& exception) {
      std::fprintf(stderr, "host %d: %s\n", static_cast<int>(::getpid()), exception.what());
    }
    std::fflush(nullptr);
    ::_exit(code);  // the template's static objects are not the host's to destroy
  }

  /// Reaps whatever has ended.
  void reap_ended() {
    for (;;) {
      siginfo_t info{};
      if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
      reap(info.si_pid);
    }
  }

  void reap(pid_t pid) {
    // While the leader is a zombie nobody else can have its group's number.
    if (children_.contains(pid)) ::kill(-pid, SIGKILL);
    int raw = 0;
    rusage usage{};
    while (::wait4(pid, &raw, 0, &usage) < 0) {
      if (errno != EINTR) return;
    }
    const auto child = children_.find(pid);
    if (child == children_.end()) return;  // somebody else's leavings
    const ExitStatus status = make_exit_status(raw, usage);
    capnp::MallocMessageBuilder message;
    auto exited = message.initRoot<schemas::TemplateNotice>().initExited();
    exited.setPid(pid);
    exited.setStartTime(child->second.start_time);
    exited.setCode(status.code);
    exited.setSignal(status.signal);
    exited.setCoreDumped(status.core_dumped);
    exited.setOutOfMemory(status.signal == SIGKILL && out_of_memory_.claim_kill());
    exited.setUserSeconds(status.user_seconds);
    exited.setSystemSeconds(status.system_seconds);
    exited.setPeakResidentBytes(status.peak_resident_bytes);
    children_.erase(child);
    tell(message);
  }

  void end_children() {
    for (const auto& [pid, identity] : children_) ::kill(-pid, SIGKILL);
    while (!children_.empty()) {
      const pid_t pid = children_.begin()->first;
      reap(pid);
      children_.erase(pid);
    }
  }

  void tell(capnp::MessageBuilder& message) {
    if (!write_control_frame(control_, message)) worker_gone_ = true;
  }

  const int control_;
  const TemplateCallbacks& callbacks_;
  const pid_t own_pid_;
  OutOfMemoryWatch out_of_memory_;
  int signals_ = -1;
  bool worker_gone_ = false;
  ControlFrameReader reader_;
  std::map<pid_t, ProcessIdentity> children_;
};

}  // namespace

int serve_template(int control_descriptor, const TemplateCallbacks& callbacks, const FileSystem& files) {
  // What else the template starts must not hold the stream open after its death.
  ::fcntl(control_descriptor, F_SETFD, FD_CLOEXEC);
  TemplateServer server(control_descriptor, callbacks, files);
  if (auto served = server.serve(); !served) {
    std::fprintf(stderr, "template %d: %s\n", static_cast<int>(::getpid()), served.error().message().c_str());
    return 1;
  }
  return 0;
}

}  // namespace tandem::runtime
