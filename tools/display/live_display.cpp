#include <fmt/format.h>

#include <mutex>
#include <ostream>
#include <string>

#include "tools/display/progress_display.hpp"

namespace tandem::tools {
namespace {

// ECMA-48 control sequences.
constexpr std::string_view kHideCursor = "\x1b[?25l";
constexpr std::string_view kShowCursor = "\x1b[?25h";
constexpr std::string_view kEraseToLineEnd = "\x1b[K";
constexpr std::string_view kEraseBelow = "\x1b[J";

class LiveDisplay final : public ProgressDisplay {
 public:
  LiveDisplay(std::ostream& out, std::function<FrameSize()> size) : out_(out), size_(std::move(size)) {}
  ~LiveDisplay() override { close(); }

  void on_snapshot(const actors::StudySnapshot& snapshot) override {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    FrameSize size = size_();
    --size.rows;  // the cursor's own line: a frame as high as the screen would scroll
    --size.columns;
    draw(render_frame(snapshot, size));
  }

  void say(std::string_view line) override {
    const std::lock_guard lock(mutex_);
    write(back_to_top() + std::string(line) + std::string(kEraseToLineEnd) + "\n" + std::string(kEraseBelow) +
          joined(lines_));
  }

  void close() override {
    const std::lock_guard lock(mutex_);
    if (!closed_ && drawn_) write(std::string(kShowCursor));
    lines_.clear();
    closed_ = true;
  }

 private:
  void draw(std::vector<std::string> lines) {
    std::string picture = drawn_ ? std::string() : std::string(kHideCursor);
    picture += back_to_top();
    lines_ = std::move(lines);
    picture += joined(lines_);
    picture += kEraseBelow;
    drawn_ = true;
    write(picture);
  }

  [[nodiscard]] std::string back_to_top() const {
    return lines_.empty() ? std::string() : fmt::format("\x1b[{}A\r", lines_.size());
  }

  static std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const auto& line : lines) text += line + std::string(kEraseToLineEnd) + "\n";
    return text;
  }

  void write(const std::string& text) { out_.write(text.data(), static_cast<std::streamsize>(text.size())).flush(); }

  std::ostream& out_;
  std::function<FrameSize()> size_;
  std::mutex mutex_;
  std::vector<std::string> lines_;  ///< on the screen now
  bool drawn_ = false;
  bool closed_ = false;
};

class SilentDisplay final : public ProgressDisplay {
 public:
  void on_snapshot(const actors::StudySnapshot&) override {}
  void say(std::string_view) override {}
  void close() override {}
};

}  // namespace

std::unique_ptr<ProgressDisplay> make_live_display(std::ostream& out, std::function<FrameSize()> size) {
  return std::make_unique<LiveDisplay>(out, std::move(size));
}

std::unique_ptr<ProgressDisplay> make_silent_display() { return std::make_unique<SilentDisplay>(); }

}  // namespace tandem::tools
