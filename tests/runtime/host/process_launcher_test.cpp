#include "runtime/base/process_launcher.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <thread>
#include <vector>

#include "runtime/base/file_system.hpp"
#include "tests/runtime/host/temporary_directory.hpp"

using namespace tandem;

namespace {

/// A pipe whose ends close themselves.
struct Pipe {
  Pipe() { REQUIRE(::pipe2(ends, O_CLOEXEC) == 0); }
  ~Pipe() {
    close_read();
    close_write();
  }
  void close_read() { close(0); }
  void close_write() { close(1); }
  void close(int end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  std::string read_all() {
    close_write();
    std::string text;
    char bytes[4096];
    for (ssize_t count; (count = ::read(ends[0], bytes, sizeof bytes)) > 0;) text.append(bytes, count);
    return text;
  }
  int ends[2];
};

/// Standard output of a shell command under `spec`.
std::string output_of(ProcessSpec spec, const std::string& command) {
  PosixProcessLauncher launcher;
  Pipe pipe;
  spec.argv = {"/bin/sh", "-c", command};
  spec.standard_output = StreamSource::from(pipe.ends[1]);
  auto process = launcher.spawn(spec);
  REQUIRE(process);
  std::string text = pipe.read_all();
  REQUIRE((*process)->wait());
  return text;
}

}  // namespace

TEST_CASE("exit codes and signals are told apart") {
  PosixProcessLauncher launcher;
  ProcessSpec spec;
  spec.argv = {"sh", "-c", "exit 3"};
  auto process = launcher.spawn(spec);
  REQUIRE(process);
  auto status = (*process)->wait();
  REQUIRE(status);
  CHECK(status->signal == 0);
  CHECK(status->code == 3);
  CHECK(status->describe() == "exited with code 3");
  CHECK(status->peak_resident_bytes > 0);
  CHECK((*process)->wait()->code == 3);

  spec.argv = {"sh", "-c", "kill -TERM $$"};
  process = launcher.spawn(spec);
  REQUIRE(process);
  status = (*process)->wait();
  REQUIRE(status);
  CHECK(status->signal == SIGTERM);
  CHECK(status->describe() == "killed by signal 15 (SIGTERM)");
}

TEST_CASE("environment changes set and unset, the rest is inherited") {
  ::setenv("TANDEM_TEST_KEPT", "kept", 1);
  ::setenv("TANDEM_TEST_GONE", "here", 1);
  ProcessSpec spec;
  spec.environment = {{"TANDEM_TEST_GONE", std::nullopt}, {"OMP_WAIT_POLICY", "passive"}};
  CHECK(output_of(spec, "echo $TANDEM_TEST_KEPT,${TANDEM_TEST_GONE-unset},$OMP_WAIT_POLICY") == "kept,unset,passive\n");
  CHECK(current_environment()["TANDEM_TEST_KEPT"] == "kept");
}

TEST_CASE("the working directory is the one asked for") {
  const TemporaryDirectory directory;
  ProcessSpec spec;
  spec.working_directory = directory.path();
  CHECK(output_of(spec, "pwd -P") == directory.path() + "\n");
}

TEST_CASE("descriptors arrive at their numbers even when source and target cross, and no other does") {
  Pipe first, second, stray;
  ::fcntl(stray.ends[1], F_SETFD, 0);  // as a careless library leaves it
  ProcessSpec spec;
  spec.descriptors = {{3, second.ends[1]}, {4, first.ends[1]}};
  // Crossed on purpose: the low numbers are likely the pipes' own.
  if (first.ends[1] > 4) {
    spec.descriptors[first.ends[1]] = second.ends[1];
    spec.descriptors[second.ends[1]] = first.ends[1];
  }
  PosixProcessLauncher launcher;
  spec.argv = {"/bin/sh", "-c",
               fmt::format("echo three >&3; echo four >&4; test ! -e /proc/self/fd/{}", stray.ends[1])};
  auto process = launcher.spawn(spec);
  REQUIRE(process);
  CHECK((*process)->wait()->code == 0);
  CHECK(first.read_all() == "four\n");
  CHECK(second.read_all() == "three\n");
}

TEST_CASE("a program that cannot be started is an error that names it") {
  PosixProcessLauncher launcher;
  const TemporaryDirectory directory;
  PosixFileSystem files;
  REQUIRE(files.write_file_atomic(directory / "data", "no program"));
  struct Case {
    std::vector<std::string> argv;
    ErrorCode code;
    std::string named;
  };
  const Case cases[] = {
      {{"/no/such/program"}, ErrorCode::not_found, "/no/such/program"},
      {{"no-such-program-anywhere"}, ErrorCode::not_found, "no-such-program-anywhere"},
      {{directory / "data"}, ErrorCode::permission_denied, directory / "data"},
      {{}, ErrorCode::invalid_argument, "argv"},
  };
  for (const auto& [argv, code, named] : cases) {
    CAPTURE(named);
    ProcessSpec spec;
    spec.argv = argv;
    const auto process = launcher.spawn(spec);
    REQUIRE_FALSE(process);
    CHECK(process.error().code() == code);
    CHECK(process.error().message().find(named) != std::string::npos);
  }
  ProcessSpec spec;
  spec.argv = {"true"};
  spec.working_directory = "/no/such/directory";
  CHECK(launcher.spawn(spec).error().message().find("/no/such/directory") != std::string::npos);
}

TEST_CASE("a process that runs on is seen running, then killed, with its group") {
  PosixProcessLauncher launcher;
  Pipe pipe;
  ProcessSpec spec;
  spec.argv = {"sh", "-c", "sleep 1000 & echo started; wait"};
  spec.standard_output = StreamSource::from(pipe.ends[1]);
  spec.new_process_group = true;
  auto process = launcher.spawn(spec);
  REQUIRE(process);
  char bytes[8];
  REQUIRE(::read(pipe.ends[0], bytes, sizeof bytes) == 8);
  const auto running = (*process)->wait_for(Duration::zero());
  REQUIRE(running);
  CHECK_FALSE(*running);
  CHECK(identify_process((*process)->identity().pid) == (*process)->identity());
  REQUIRE((*process)->kill_group(SIGKILL));
  const auto ended = (*process)->wait_for(std::chrono::seconds(60));
  REQUIRE(ended);
  REQUIRE(*ended);
  CHECK((*ended)->signal == SIGKILL);
  CHECK(pipe.read_all().empty());  // the sleeping grandchild holds the pipe no more
  CHECK((*process)->kill(SIGKILL));
}

TEST_CASE("a process that leads no group has none to kill") {
  PosixProcessLauncher launcher;
  ProcessSpec spec;
  spec.argv = {"true"};
  auto process = launcher.spawn(spec);
  REQUIRE(process);
  CHECK((*process)->kill_group(SIGKILL).error().code() == ErrorCode::failed_precondition);
}

TEST_CASE("a handle that is dropped takes its process with it") {
  PosixProcessLauncher launcher;
  ProcessSpec spec;
  spec.argv = {"sleep", "1000"};
  ProcessIdentity identity;
  {
    auto process = launcher.spawn(spec);
    REQUIRE(process);
    identity = (*process)->identity();
  }
  CHECK(signal_process(identity, 0).error().code() == ErrorCode::not_found);
}

TEST_CASE("a signal never reaches a later process with the same pid") {
  PosixProcessLauncher launcher;
  ProcessSpec spec;
  spec.argv = {"sleep", "1000"};
  auto process = launcher.spawn(spec);
  REQUIRE(process);
  ProcessIdentity earlier = (*process)->identity();
  REQUIRE(earlier.start_time > 0);
  earlier.start_time -= 1;
  CHECK(signal_process(earlier, SIGKILL).error().code() == ErrorCode::not_found);
  CHECK_FALSE(*(*process)->wait_for(Duration::zero()));
  CHECK(signal_process((*process)->identity(), SIGKILL));
  CHECK((*process)->wait()->signal == SIGKILL);
}

TEST_CASE("the parent-death signal comes when the spawning thread ends") {
  PosixProcessLauncher launcher;
  ProcessSpec spec;
  spec.argv = {"sleep", "1000"};
  spec.parent_death_signal = SIGTERM;
  std::unique_ptr<Process> process;
  std::thread([&] { process = launcher.spawn(spec).value(); }).join();
  const auto status = process->wait_for(std::chrono::seconds(60));
  REQUIRE(status);
  REQUIRE(*status);
  CHECK((*status)->signal == SIGTERM);
}

TEST_CASE("ignored and blocked signals are not inherited") {
  const auto before = ::signal(SIGUSR1, SIG_IGN);
  ProcessSpec spec;
  const std::string text = output_of(spec, "grep -E 'SigBlk|SigIgn' /proc/self/status");
  ::signal(SIGUSR1, before);
  CHECK(text.find("SigBlk:\t0000000000000000") != std::string::npos);
  CHECK(text.find("SigIgn:\t0000000000000000") != std::string::npos);
}

TEST_CASE("many threads spawn at once") {
  PosixProcessLauncher launcher;
  std::vector<std::thread> threads;
  std::vector<int> codes(8, -1);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    threads.emplace_back([&, i] {
      ProcessSpec spec;
      spec.argv = {"sh", "-c", fmt::format("exit {}", i)};
      if (auto process = launcher.spawn(spec)) codes[i] = (*process)->wait()->code;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(codes == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
}
