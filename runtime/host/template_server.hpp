/// Template server: a warm, single-threaded process that forks hosts on request, reaps them and tells how they ended.
#pragma once

#include <functional>
#include <string_view>

#include "runtime/base/file_system.hpp"
#include "runtime/base/result.hpp"

namespace tandem::runtime {

/// The descriptor on which a template finds its worker.
inline constexpr int kTemplateControlDescriptor = 3;
/// A host that ran out of memory without being killed for it (std::bad_alloc) exits so.
inline constexpr int kOutOfMemoryExitCode = 86;

/// What this template is a template of. Payloads are opaque to the server.
struct TemplateCallbacks {
  /// Warms the process up. Must not leave threads behind.
  std::function<Result<>(std::string_view payload)> prepare;
  /// Runs in the forked host, whose exit code it returns. The host leads its own process group, has default signals,
  /// does not hold the control descriptor, and dies when the template does.
  std::function<int(std::string_view payload)> child_main;
};

/// Serves until the worker closes its end or dies; then kills the groups of all hosts, reaps them and returns.
/// Returns the exit code for main: 0 after an orderly end, 1 after a broken request (told on stderr).
[[nodiscard]] int serve_template(int control_descriptor, const TemplateCallbacks& callbacks, const FileSystem& files);

}  // namespace tandem::runtime
