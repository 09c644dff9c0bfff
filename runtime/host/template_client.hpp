/// Template client: the worker's side of a template process. One thread launches it, talks to it and outlives it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "runtime/base/clock.hpp"
#include "runtime/base/file_system.hpp"
#include "runtime/base/process_launcher.hpp"
#include "runtime/base/result.hpp"

namespace tandem::runtime {

/// Why a host ended.
enum class ExitCause { stopped, failed, killed, out_of_memory };
/// "stopped", "failed", "killed", "out_of_memory".
[[nodiscard]] std::string_view to_string(ExitCause cause) noexcept;

/// Why the worker kills a host; decides the cause its exit is reported with.
enum class KillReason { requested, memory_limit };

/// The template runs.
struct TemplateReady {};
/// Answer to `prepare`.
struct TemplatePrepared {
  std::optional<Error> error;
  std::uint32_t thread_count = 1;  ///< of the template; more than one makes its forks unsafe
};
/// Answer to `fork_child`.
struct ChildForked {
  std::uint64_t ticket = 0;
  ProcessIdentity child;
};
struct ChildForkFailed {
  std::uint64_t ticket = 0;
  Error error;
};
/// Once for each forked child that ends before the template does.
struct ChildExited {
  ProcessIdentity child;
  ExitStatus status;
  ExitCause cause = ExitCause::stopped;
  std::string detail;
};
/// The last notice, once. Hosts whose end was not told before have been killed with the template.
struct TemplateEnded {
  bool requested = false;  ///< by `shutdown`
  std::string detail;
};
using TemplateNotice =
    std::variant<TemplateReady, TemplatePrepared, ChildForked, ChildForkFailed, ChildExited, TemplateEnded>;

/// Thread-safe. Notices come from the client's own thread, one at a time; the callback must not destroy the client.
class TemplateClient {
 public:
  using OnNotice = std::function<void(const TemplateNotice&)>;

  /// Starts `spec`, a program that calls `serve_template(kTemplateControlDescriptor, …)`. Its control descriptor,
  /// process group and parent-death signal are filled in here. Launcher, files and clock must outlive the client.
  [[nodiscard]] static Result<std::unique_ptr<TemplateClient>> launch(ProcessLauncher& launcher, FileSystem& files,
                                                                      const Clock& clock, ProcessSpec spec,
                                                                      OnNotice on_notice);
  /// `shutdown` with a second's deadline, and waits for the thread.
  ~TemplateClient();
  TemplateClient(const TemplateClient&) = delete;
  TemplateClient& operator=(const TemplateClient&) = delete;

  [[nodiscard]] ProcessIdentity identity() const;

  /// unavailable once the template has ended; resource_exhausted when too many requests wait, or it is too large.
  Result<> prepare(std::string_view payload);
  /// The ticket that ChildForked or ChildForkFailed will carry.
  Result<std::uint64_t> fork_child(std::string_view payload);
  /// Kills the child at once; the template sweeps its process group when it reaps it. not_found when it is gone.
  Result<> kill_child(ProcessIdentity child, KillReason reason = KillReason::requested);
  /// From now on the child is killed when it holds more than `memory_bytes` (resident, pages shared with the template
  /// included): by us within limits::kMemoryWatchInterval, and by the kernel where it lets us make control groups.
  /// Its end is then told as out_of_memory. not_found when it is gone; invalid_argument below one byte.
  Result<> limit_child(ProcessIdentity child, std::int64_t memory_bytes);
  /// Asks the template to kill its hosts and end; kills it after `deadline`. Waits for TemplateEnded, unless called
  /// from the callback.
  void shutdown(Duration deadline);

 private:
  class Loop;
  explicit TemplateClient(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace tandem::runtime
