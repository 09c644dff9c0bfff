#include "runtime/base/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <mutex>

namespace tandem {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      break;
  }
  return spdlog::level::off;
}

/// A logger of our own, never registered with spdlog's global registry.
class StderrSink final : public LogSink {
 public:
  StderrSink() : logger_("tandem", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    logger_.set_level(spdlog::level::trace);
    logger_.set_pattern("%H:%M:%S.%e %l %v");
  }
  void write(LogLevel level, std::string_view component, std::string_view message) override {
    logger_.log(to_spdlog(level), "{}: {}", component, message);
  }

 private:
  spdlog::logger logger_;
};

class FunctionSink final : public LogSink {
 public:
  explicit FunctionSink(std::function<void(LogLevel, std::string_view, std::string_view)> write)
      : write_(std::move(write)) {}
  void write(LogLevel level, std::string_view component, std::string_view message) override {
    const std::lock_guard lock(mutex_);
    write_(level, component, message);
  }

 private:
  std::mutex mutex_;
  std::function<void(LogLevel, std::string_view, std::string_view)> write_;
};

}  // namespace

Logger Logger::to_stderr(std::string component, LogLevel level) {
  return {std::move(component), std::make_shared<StderrSink>(), level};
}

Logger Logger::to_function(std::string component,
                           std::function<void(LogLevel, std::string_view, std::string_view)> write, LogLevel level) {
  return {std::move(component), std::make_shared<FunctionSink>(std::move(write)), level};
}

std::string_view to_string(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
    case LogLevel::off:
      break;
  }
  return "off";
}

}  // namespace tandem
