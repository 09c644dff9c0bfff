/// ProgressDisplay: a running study on a terminal, as plain lines in a log, or not at all.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string_view>

#include "actors/study/local_cluster.hpp"
#include "tools/display/frame.hpp"

namespace tandem::tools {

/// Thread-safe.
class ProgressDisplay : public actors::StudyObserver {
 public:
  /// One line of the log or a notice, above what is drawn live.
  virtual void say(std::string_view line) = 0;
  /// Leaves the terminal as it was found; nothing is drawn afterwards. May be called twice.
  virtual void close() = 0;
};

/// Redrawn in place, each time in one write. `size` is asked before each drawing.
[[nodiscard]] std::unique_ptr<ProgressDisplay> make_live_display(std::ostream& out, std::function<FrameSize()> size);
/// A line for each report, and for each trial that ends.
[[nodiscard]] std::unique_ptr<ProgressDisplay> make_line_display(std::ostream& out);
[[nodiscard]] std::unique_ptr<ProgressDisplay> make_silent_display();

/// `shown` on a thread of its own: whoever tells it something never waits for the terminal. When that does not read,
/// limits::kDisplayQueue of what was told last are kept. `close` waits until all of it has been shown.
[[nodiscard]] std::unique_ptr<ProgressDisplay> make_background_display(std::unique_ptr<ProgressDisplay> shown);

}  // namespace tandem::tools
