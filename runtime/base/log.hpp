/// Logger: where a component says what it does. A cheap value, handed down from main; there is no global logger.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace tandem {

enum class LogLevel { debug, info, warning, error, off };

/// Thread-safe to use from any number of threads.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void write(LogLevel level, std::string_view component, std::string_view message) = 0;
};

class Logger {
 public:
  /// Discards everything.
  Logger() = default;
  Logger(std::string component, std::shared_ptr<LogSink> sink, LogLevel level)
      : component_(std::move(component)), sink_(std::move(sink)), level_(level) {}

  /// Lines "time level component: message" on stderr.
  [[nodiscard]] static Logger to_stderr(std::string component, LogLevel level = LogLevel::info);
  /// Every message to a function, called by one thread at a time. For tests and displays.
  [[nodiscard]] static Logger to_function(std::string component,
                                          std::function<void(LogLevel, std::string_view, std::string_view)> write,
                                          LogLevel level = LogLevel::debug);

  /// The same sink and level under another component's name.
  [[nodiscard]] Logger named(std::string component) const { return {std::move(component), sink_, level_}; }
  [[nodiscard]] const std::string& component() const noexcept { return component_; }
  [[nodiscard]] bool enabled(LogLevel level) const noexcept { return sink_ && level >= level_; }

  template <class... Args>
  void debug(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::debug, format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::info, format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void warning(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::warning, format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) const {
    write(LogLevel::error, format, std::forward<Args>(args)...);
  }

 private:
  template <class... Args>
  void write(LogLevel level, fmt::format_string<Args...> format, Args&&... args) const {
    if (enabled(level)) sink_->write(level, component_, fmt::format(format, std::forward<Args>(args)...));
  }

  std::string component_;
  std::shared_ptr<LogSink> sink_;
  LogLevel level_ = LogLevel::off;
};

/// "debug", "info", "warning", "error" or "off".
[[nodiscard]] std::string_view to_string(LogLevel level) noexcept;

}  // namespace tandem
