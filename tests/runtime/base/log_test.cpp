#include "runtime/base/log.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace tandem {

TEST_CASE("a logger passes on what reaches its level, under its component's name") {
  std::vector<std::string> lines;
  const Logger logger = Logger::to_function(
      "node",
      [&lines](LogLevel level, std::string_view component, std::string_view message) {
        lines.push_back(fmt::format("{} {}: {}", to_string(level), component, message));
      },
      LogLevel::info);
  logger.debug("too quiet {}", 1);
  logger.info("a {}", 1);
  logger.named("worker").error("b {}", "two");
  CHECK(lines == std::vector<std::string>{"info node: a 1", "error worker: b two"});
  CHECK_FALSE(logger.enabled(LogLevel::debug));
}

TEST_CASE("a logger nobody gave a sink discards everything") {
  const Logger silent;
  CHECK_FALSE(silent.enabled(LogLevel::error));
  silent.error("nobody hears {}", "this");
}

}  // namespace tandem
