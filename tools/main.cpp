// The `tandem` program. Links no LibTorch: it must answer at once.
#include <unistd.h>

#include <array>
#include <csignal>
#include <iostream>

#include "tools/cli/program.hpp"

namespace {

std::string own_path(const char* fallback) {
  std::array<char, 4096> buffer{};
  const ssize_t length = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  return length > 0 ? std::string(buffer.data(), static_cast<std::size_t>(length)) : std::string(fallback);
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that goes away (`tandem trials x | head`) is seen as a failed write, not as a signal.
  std::signal(SIGPIPE, SIG_IGN);
  std::ios::sync_with_stdio(false);
  tandem::PosixFileSystem files;
  tandem::PosixProcessLauncher launcher;
  tandem::SystemClock clock;
  tandem::tools::Surroundings surroundings{std::cin,
                                           std::cout,
                                           std::cerr,
                                           files,
                                           launcher,
                                           clock,
                                           tandem::current_environment(),
                                           own_path(argc > 0 ? argv[0] : "tandem"),
                                           ::isatty(STDERR_FILENO) == 1};
  return tandem::tools::run_program(std::vector<std::string>(argv + 1, argv + argc), surroundings);
}
