#include "runtime/base/process_launcher.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <mutex>

#include "runtime/base/file_system.hpp"

extern char** environ;

namespace tandem {

namespace {

constexpr int kFirstFreeDescriptor = 3;
constexpr int kExecFailedCode = 127;

/// Closes what it holds.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) noexcept : fd_(fd) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset();
    fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  void reset() noexcept {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

int open_pidfd(int pid) noexcept { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

double seconds_of(const timeval& time) noexcept {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

class PosixProcess final : public Process {
 public:
  PosixProcess(ProcessIdentity identity, bool leads_group)
      : identity_(identity), leads_group_(leads_group), pidfd_(open_pidfd(identity.pid)) {}

  ~PosixProcess() override {
    if (status_) return;
    if (leads_group_) ::kill(-identity_.pid, SIGKILL);
    ::kill(identity_.pid, SIGKILL);
    (void)wait();
  }

  [[nodiscard]] ProcessIdentity identity() const override { return identity_; }

  Result<ExitStatus> wait() override {
    for (;;) {
      // Only looks, so that a `kill` by another thread meanwhile still finds the process or its zombie. By the pidfd,
      // which after another thread's `wait` cannot mean a later child.
      siginfo_t info{};
      const bool pinned = pidfd_.get() >= 0;
      const auto id = static_cast<id_t>(pinned ? pidfd_.get() : identity_.pid);
      if (::waitid(pinned ? P_PIDFD : P_PID, id, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) continue;
      const std::lock_guard lock(mutex_);
      if (auto ended = reap(); !ended || *ended) {
        if (!ended) return forward_error(ended);
        return **ended;
      }
    }
  }

  Result<std::optional<ExitStatus>> wait_for(Duration timeout) override {
    {
      const std::lock_guard lock(mutex_);
      if (auto ended = reap(); !ended || *ended || timeout <= Duration::zero()) return ended;
    }
    if (pidfd_.get() < 0) {
      return fail(ErrorCode::unavailable, "process {}: this kernel has no pidfd to wait on", identity_.pid);
    }
    pollfd waiting{pidfd_.get(), POLLIN, 0};
    const timespec limit{static_cast<time_t>(timeout.count() / 1'000'000'000), timeout.count() % 1'000'000'000};
    while (::ppoll(&waiting, 1, &limit, nullptr) < 0) {
      if (errno != EINTR) return tl::unexpected<Error>(system_error(fmt::format("process {}", identity_.pid), errno));
    }
    const std::lock_guard lock(mutex_);
    return reap();
  }

  Result<> kill(int signal) override {
    const std::lock_guard lock(mutex_);
    return send(identity_.pid, signal);
  }

  Result<> kill_group(int signal) override {
    if (!leads_group_) return fail(ErrorCode::failed_precondition, "process {} leads no group", identity_.pid);
    const std::lock_guard lock(mutex_);
    return send(-identity_.pid, signal);
  }

 private:
  Result<> send(int target, int signal) {
    if (status_ || ::kill(target, signal) == 0 || errno == ESRCH) return {};
    return tl::unexpected<Error>(system_error(fmt::format("signal {} to process {}", signal, target), errno));
  }

  Result<std::optional<ExitStatus>> reap() {
    if (status_) return status_;
    int raw = 0;
    rusage usage{};
    pid_t pid;
    do pid = ::wait4(identity_.pid, &raw, WNOHANG, &usage);
    while (pid < 0 && errno == EINTR);
    if (pid == 0) return std::optional<ExitStatus>();
    if (pid < 0) return tl::unexpected<Error>(system_error(fmt::format("process {}", identity_.pid), errno));
    status_ = make_exit_status(raw, usage);
    return status_;
  }

  const ProcessIdentity identity_;
  const bool leads_group_;
  const Descriptor pidfd_;
  std::mutex mutex_;
  std::optional<ExitStatus> status_;
};

/// Everything the child needs between fork and exec, allocated before.
struct ChildPlan {
  std::string program;
  std::vector<char*> argv;
  std::vector<std::string> environment;
  std::vector<char*> envp;
  const char* working_directory = nullptr;
  std::vector<std::pair<int, int>> wiring;  ///< child's number, caller's descriptor (-1: inherit)
  int first_free = kFirstFreeDescriptor;    ///< above every number of the child's
  bool new_process_group = false;
  int parent_death_signal = 0;
  int parent_pid = 0;
  int report_fd = -1;
};

/// Tells the parent why, and ends. Async-signal-safe.
[[noreturn]] void give_up(int report_fd, int error_number) noexcept {
  [[maybe_unused]] const auto written = ::write(report_fd, &error_number, sizeof error_number);
  ::_exit(kExecFailedCode);
}

/// In the child: only async-signal-safe calls, since other threads' locks may be held for good.
[[noreturn]] void run_child(ChildPlan& plan) noexcept {
  if (plan.new_process_group && ::setpgid(0, 0) != 0) give_up(plan.report_fd, errno);
  if (plan.parent_death_signal != 0 && !bind_to_parent(plan.parent_pid, plan.parent_death_signal)) {
    give_up(plan.report_fd, ESRCH);
  }
  // First out of the way of every wanted number, then to it: a source may sit where another shall go.
  const int report = ::fcntl(plan.report_fd, F_DUPFD_CLOEXEC, plan.first_free);
  if (report < 0) give_up(plan.report_fd, errno);
  for (auto& [target, source] : plan.wiring) {
    if (source < 0) source = target;
    if ((source = ::fcntl(source, F_DUPFD_CLOEXEC, plan.first_free)) < 0) give_up(report, errno);
  }
  // Libraries open descriptors without close-on-exec. Kernels before 5.11 cannot do this; ours have the flag anyway.
  (void)::syscall(SYS_close_range, 0U, ~0U, 1U << 2 /* CLOSE_RANGE_CLOEXEC */);
  for (const auto& [target, source] : plan.wiring) {
    if (::dup2(source, target) < 0) give_up(report, errno);
  }
  if (plan.working_directory != nullptr && ::chdir(plan.working_directory) != 0) give_up(report, errno);
  reset_signals();
  ::execve(plan.program.c_str(), plan.argv.data(), plan.envp.data());
  give_up(report, errno);
}

Result<std::string> find_program(const std::string& name, const std::map<std::string, std::string>& environment) {
  if (name.find('/') != std::string::npos) return name;
  const auto path = environment.find("PATH");
  const std::string directories = path == environment.end() ? "/usr/local/bin:/usr/bin:/bin" : path->second;
  for (std::size_t begin = 0; begin <= directories.size();) {
    const std::size_t end = std::min(directories.find(':', begin), directories.size());
    const std::string directory = directories.substr(begin, end - begin);
    const std::string candidate = (directory.empty() ? "." : directory) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    begin = end + 1;
  }
  return fail(ErrorCode::not_found, "{}: no such program in PATH ({})", name, directories);
}

Result<> check_spec(const ProcessSpec& spec) {
  if (spec.argv.empty() || spec.argv[0].empty()) return fail(ErrorCode::invalid_argument, "argv: must name a program");
  for (const auto& [name, value] : spec.environment) {
    if (name.empty() || name.find('=') != std::string::npos) {
      return fail(ErrorCode::invalid_argument, "environment: \"{}\" is no variable name", name);
    }
  }
  for (const auto& [target, source] : spec.descriptors) {
    if (target < kFirstFreeDescriptor || source < 0) {
      return fail(ErrorCode::invalid_argument, "descriptor {} as {}: the child's must be 3 or more, ours open", source,
                  target);
    }
  }
  return {};
}

Result<ChildPlan> make_plan(const ProcessSpec& spec, int null_fd) {
  ChildPlan plan;
  auto environment = current_environment();
  for (const auto& [name, value] : spec.environment) {
    if (value)
      environment[name] = *value;
    else
      environment.erase(name);
  }
  auto program = find_program(spec.argv[0], environment);
  if (!program) return forward_error(program);
  plan.program = std::move(*program);
  for (const auto& argument : spec.argv) plan.argv.push_back(const_cast<char*>(argument.c_str()));
  plan.argv.push_back(nullptr);
  for (const auto& [name, value] : environment) plan.environment.push_back(name + "=" + value);
  for (auto& entry : plan.environment) plan.envp.push_back(entry.data());
  plan.envp.push_back(nullptr);
  if (!spec.working_directory.empty()) plan.working_directory = spec.working_directory.c_str();

  const StreamSource* streams[] = {&spec.standard_input, &spec.standard_output, &spec.standard_error};
  for (int target = 0; target < 3; ++target) {
    const StreamSource& source = *streams[target];
    const bool null = source.kind == StreamSource::Kind::null;
    plan.wiring.emplace_back(target, null ? null_fd : source.descriptor);
  }
  for (const auto& [target, source] : spec.descriptors) {
    plan.wiring.emplace_back(target, source);
    plan.first_free = std::max(plan.first_free, target + 1);
  }
  plan.new_process_group = spec.new_process_group;
  plan.parent_death_signal = spec.parent_death_signal;
  plan.parent_pid = ::getpid();
  return plan;
}

/// The errno of a failed start; 0 when exec closed the pipe.
int read_report(int fd) noexcept {
  int error_number = 0;
  ssize_t count;
  do count = ::read(fd, &error_number, sizeof error_number);
  while (count < 0 && errno == EINTR);
  return count == sizeof error_number ? error_number : 0;
}

}  // namespace

std::string ExitStatus::describe() const {
  if (signal == 0) return fmt::format("exited with code {}", code);
  const char* name = ::sigabbrev_np(signal);
  return fmt::format("killed by signal {}{}{}", signal, name ? fmt::format(" (SIG{})", name) : std::string(),
                     core_dumped ? ", core dumped" : "");
}

ExitStatus make_exit_status(int wait_status, const rusage& usage) {
  ExitStatus status;
  if (WIFSIGNALED(wait_status)) {
    status.signal = WTERMSIG(wait_status);
    status.core_dumped = WCOREDUMP(wait_status);
  } else {
    status.code = WEXITSTATUS(wait_status);
  }
  status.user_seconds = seconds_of(usage.ru_utime);
  status.system_seconds = seconds_of(usage.ru_stime);
  status.peak_resident_bytes = static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
  return status;
}

Result<std::unique_ptr<Process>> PosixProcessLauncher::spawn(const ProcessSpec& spec) {
  if (auto valid = check_spec(spec); !valid) return forward_error(valid);
  const Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (null.get() < 0) return tl::unexpected<Error>(system_error("/dev/null", errno));
  auto plan = make_plan(spec, null.get());
  if (!plan) return forward_error(plan);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return tl::unexpected<Error>(system_error(spec.argv[0], errno));
  const Descriptor report(ends[0]);
  Descriptor child_report(ends[1]);
  plan->report_fd = child_report.get();

  // No handler of ours may run in the child before its signals are reset.
  sigset_t every, before;
  ::sigfillset(&every);
  ::pthread_sigmask(SIG_SETMASK, &every, &before);
  const pid_t pid = ::fork();
  if (pid == 0) run_child(*plan);
  const int fork_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return tl::unexpected<Error>(system_error(fmt::format("fork for {}", spec.argv[0]), fork_error));
  child_report.reset();
  // In both processes: whichever comes first, the group is there for `kill_group`.
  if (spec.new_process_group) ::setpgid(pid, pid);

  const auto identity = identify_process(pid);
  auto process = std::make_unique<PosixProcess>(identity.value_or(ProcessIdentity{pid, 0}), spec.new_process_group);
  if (const int error_number = read_report(report.get()); error_number != 0) {
    (void)process->wait();
    const bool in_directory = plan->working_directory != nullptr && ::access(plan->working_directory, X_OK) != 0;
    return tl::unexpected<Error>(system_error(in_directory ? spec.working_directory : plan->program, error_number));
  }
  return process;
}

std::map<std::string, std::string> current_environment() {
  std::map<std::string, std::string> result;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) result.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return result;
}

Result<ProcessIdentity> identify_process(int pid) {
  const PosixFileSystem files;
  const std::string path = fmt::format("/proc/{}/stat", pid);
  auto text = files.read_file(path);
  if (!text) return forward_error(text);
  // The second field is the program's name, which may hold spaces and brackets; the 22nd is the start time.
  std::size_t at = text->rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = text->find(' ', at + 1);
  ProcessIdentity identity{pid, 0};
  if (at == std::string::npos ||
      std::from_chars(text->data() + at + 1, text->data() + text->size(), identity.start_time).ec != std::errc()) {
    return fail(ErrorCode::internal, "{}: has no start time", path);
  }
  return identity;
}

Result<> signal_process(ProcessIdentity identity, int signal) {
  const std::string name = fmt::format("process {}", identity.pid);
  // The descriptor pins the process; that it is the right one is checked after.
  const Descriptor pidfd(open_pidfd(identity.pid));
  if (pidfd.get() < 0) return tl::unexpected<Error>(system_error(name, errno));
  const auto current = identify_process(identity.pid);
  if (!current || *current != identity) return fail(ErrorCode::not_found, "{}: has ended", name);
  if (::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0) != 0) {
    return tl::unexpected<Error>(system_error(name, errno));
  }
  return {};
}

bool bind_to_parent(int expected_parent, int signal) noexcept {
  if (::prctl(PR_SET_PDEATHSIG, signal) != 0) return false;
  return ::getppid() == expected_parent;  // otherwise it ended before the kernel knew whom to tell
}

void reset_signals() noexcept {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) {
    if (signal != SIGKILL && signal != SIGSTOP) ::sigaction(signal, &standard, nullptr);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace tandem
