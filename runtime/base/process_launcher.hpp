/// ProcessLauncher: the only way the project starts processes and looks at its own environment.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/clock.hpp"
#include "runtime/base/result.hpp"

struct rusage;

namespace tandem {

/// A process, told apart from later ones that reuse its pid.
struct ProcessIdentity {
  int pid = 0;
  std::uint64_t start_time = 0;  ///< clock ticks since boot, from /proc/<pid>/stat
  friend auto operator<=>(const ProcessIdentity&, const ProcessIdentity&) = default;
};

/// How a process ended and what it had used.
struct ExitStatus {
  int code = 0;    ///< of exit(); meaningless if a signal ended it
  int signal = 0;  ///< that ended it; 0: it exited by itself
  bool core_dumped = false;
  double user_seconds = 0;
  double system_seconds = 0;
  std::int64_t peak_resident_bytes = 0;

  [[nodiscard]] bool success() const noexcept { return signal == 0 && code == 0; }
  /// "exited with code 3", "killed by signal 9 (SIGKILL)".
  [[nodiscard]] std::string describe() const;
};

/// From what wait4 gives.
[[nodiscard]] ExitStatus make_exit_status(int wait_status, const rusage& usage);

/// Where one of the child's descriptors comes from. Given descriptors stay the caller's to close.
struct StreamSource {
  enum class Kind { inherit, null, descriptor };
  Kind kind = Kind::inherit;
  int descriptor = -1;

  static StreamSource inherit() { return {}; }
  static StreamSource null() { return {Kind::null, -1}; }
  static StreamSource from(int descriptor) { return {Kind::descriptor, descriptor}; }
};

/// What to start. Whatever is not named here is not inherited, except the environment and the working directory.
struct ProcessSpec {
  std::vector<std::string> argv;  ///< argv[0] with a '/' is a path, otherwise looked up in PATH
  std::map<std::string, std::optional<std::string>> environment;  ///< changes: a value sets, nullopt unsets
  std::string working_directory;                                  ///< empty: the caller's
  StreamSource standard_input = StreamSource::null();
  StreamSource standard_output;
  StreamSource standard_error;
  std::map<int, int> descriptors;  ///< child's number (≥ 3) → caller's descriptor
  bool new_process_group = false;  ///< the child leads a group of its own
  int parent_death_signal = 0;     ///< sent to the child when the *thread* that called `spawn` ends; 0: none
};

/// A child of this process. Thread-safe. Destroyed unwaited, it is killed (its group, if it leads one) and reaped.
class Process {
 public:
  virtual ~Process() = default;
  [[nodiscard]] virtual ProcessIdentity identity() const = 0;
  /// Waits for the end; the same answer at every later call.
  virtual Result<ExitStatus> wait() = 0;
  /// Waits at most this long (0: just looks); nullopt while it runs.
  virtual Result<std::optional<ExitStatus>> wait_for(Duration timeout) = 0;
  /// No effect, and no error, after the end was seen by `wait`: the pid may be another's by then.
  virtual Result<> kill(int signal) = 0;
  /// To the group it leads; `failed_precondition` if it leads none.
  virtual Result<> kill_group(int signal) = 0;
};

/// Thread-safe.
class ProcessLauncher {
 public:
  virtual ~ProcessLauncher() = default;
  /// not_found or permission_denied when the program cannot be executed, naming it; invalid_argument for a bad spec.
  [[nodiscard]] virtual Result<std::unique_ptr<Process>> spawn(const ProcessSpec& spec) = 0;
};

/// fork + exec; safe in a process with many threads.
class PosixProcessLauncher final : public ProcessLauncher {
 public:
  [[nodiscard]] Result<std::unique_ptr<Process>> spawn(const ProcessSpec& spec) override;
};

/// This process's environment.
[[nodiscard]] std::map<std::string, std::string> current_environment();

/// The identity of a live (or not yet reaped) process; not_found if there is none.
[[nodiscard]] Result<ProcessIdentity> identify_process(int pid);

/// Signals exactly this process, never a later one with its pid; not_found when it is gone.
Result<> signal_process(ProcessIdentity identity, int signal);

/// Asks the kernel to send `signal` to this process when `expected_parent`'s forking thread ends; false when that
/// happened already. Async-signal-safe; for use between fork and anything else.
[[nodiscard]] bool bind_to_parent(int expected_parent, int signal) noexcept;

/// Unblocks every signal and gives each its default action. Async-signal-safe.
void reset_signals() noexcept;

}  // namespace tandem
