// The built program as a user starts it: exit codes, streams, and that every answer is flushed.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>

#include "runtime/base/file_system.hpp"
#include "runtime/base/process_launcher.hpp"

namespace tandem::tools {
namespace {

const std::string kProgram = std::string(TANDEM_BINARY_DIR) + "/bin/tandem";

/// Two ends of a pipe, closed when it goes.
struct Pipe {
  Pipe() { REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0); }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(std::size_t end) {
    if (ends.at(end) >= 0) ::close(ends.at(end));
    ends.at(end) = -1;
  }
  [[nodiscard]] std::string read_line() const {
    std::string line;
    char letter = 0;
    while (::read(ends[0], &letter, 1) == 1 && letter != '\n') line += letter;
    return line;
  }
  [[nodiscard]] std::string read_all() const {
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t count = 0; (count = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
      text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return text;
  }
  void write(const std::string& text) const {
    REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  std::array<int, 2> ends{-1, -1};
};

struct ProgramFixture {
  ProgramFixture() {
    directory = files.temporary_name((std::filesystem::temp_directory_path() / "tandem-program-test").string());
    REQUIRE(files.make_directories(directory).has_value());
    study = directory + "/s.toml";
    REQUIRE(files
                .write_file_atomic(study,
                                   "[study]\nname=\"s\"\nobjectives=[\"a:max\"]\nmax_trials=20\nseed=1\n"
                                   "[trial]\nepochs=3\n[space]\nx={low=0.0,high=1.0}\n")
                .has_value());
  }
  ~ProgramFixture() { std::filesystem::remove_all(directory); }

  std::unique_ptr<Process> start(std::vector<std::string> arguments, Pipe& in, Pipe& out, Pipe& err) {
    ProcessSpec spec;
    spec.argv = {kProgram};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    spec.environment["TANDEM_STATE"] = directory + "/state";
    spec.standard_input = StreamSource::from(in.ends[0]);
    spec.standard_output = StreamSource::from(out.ends[1]);
    spec.standard_error = StreamSource::from(err.ends[1]);
    auto process = launcher.spawn(spec);
    REQUIRE_MESSAGE(process.has_value(), process.error().message());
    in.close_end(0);
    out.close_end(1);
    err.close_end(1);
    return std::move(*process);
  }

  struct Ended {
    int code = -1;
    std::string out, err;
  };
  Ended run(const std::vector<std::string>& arguments, const std::string& input = {}) {
    Pipe in;
    Pipe out;
    Pipe err;
    const auto process = start(arguments, in, out, err);
    in.write(input);
    in.close_end(1);
    Ended ended;
    ended.out = out.read_all();
    ended.err = err.read_all();
    const auto status = process->wait();
    REQUIRE(status.has_value());
    REQUIRE(status->signal == 0);
    ended.code = status->code;
    return ended;
  }

  PosixFileSystem files;
  PosixProcessLauncher launcher;
  std::string directory;
  std::string study;
};

TEST_CASE_FIXTURE(ProgramFixture, "the exit codes are those of the contract") {
  CHECK(run({"version"}).code == 0);
  CHECK(run({}).code == 2);
  CHECK(run({"tune", directory + "/absent.toml"}).code == 2);
  CHECK(run({"trials", "nothing"}).code == 3);
  const auto version = run({"version"});
  CHECK(version.out.starts_with("tandem "));
  CHECK(version.err.empty());
}

TEST_CASE_FIXTURE(ProgramFixture, "asktell answers each line before it waits for the next") {
  Pipe in;
  Pipe out;
  Pipe err;
  const auto process = start({"asktell", study}, in, out, err);
  in.write("{\"ask\":1}\n");
  CHECK(out.read_line().find("\"trial\":0") != std::string::npos);
  in.write("{\"tell\":{\"trial\":0,\"step\":1,\"values\":{\"a\":0.5}}}\n");
  CHECK(out.read_line().find("continue") != std::string::npos);
  in.close_end(1);
  CHECK(process->wait()->success());
}

TEST_CASE_FIXTURE(ProgramFixture, "what asktell has answered survives kill -9") {
  {
    Pipe in;
    Pipe out;
    Pipe err;
    const auto process = start({"asktell", study}, in, out, err);
    in.write("{\"ask\":2}\n");
    CHECK(out.read_line().find("\"trial\":1") != std::string::npos);
    in.write("{\"tell\":{\"trial\":1,\"step\":1,\"values\":{\"a\":0.25}}}\n");
    CHECK(out.read_line().find("continue") != std::string::npos);
    REQUIRE(process->kill(SIGKILL).has_value());
    CHECK(process->wait()->signal == SIGKILL);
  }
  CHECK(run({"asktell", study}).code == 2);
  const auto resumed = run({"asktell", study, "--resume"}, "{\"open\":{}}\n{\"best\":{}}\n");
  CHECK(resumed.code == 0);
  CHECK(resumed.out.find("\"step\":1") != std::string::npos);
  CHECK(resumed.out.find("0.25") != std::string::npos);
}

TEST_CASE_FIXTURE(ProgramFixture, "a study is served by one process at a time, and the other is told which") {
  Pipe in;
  Pipe out;
  Pipe err;
  const auto process = start({"asktell", study}, in, out, err);
  in.write("{\"ask\":1}\n");
  (void)out.read_line();
  const auto second = run({"asktell", study, "--resume"}, "{\"ask\":1}\n");
  CHECK(second.code != 0);
  CHECK(second.err.find(std::to_string(process->identity().pid)) != std::string::npos);
  in.close_end(1);
  CHECK(process->wait()->success());
}

TEST_CASE_FIXTURE(ProgramFixture, "a reader that goes away ends the program without a signal") {
  REQUIRE(run({"asktell", study}, "{\"ask\":20}\n").code == 0);
  Pipe in;
  Pipe out;
  Pipe err;
  out.close_end(0);
  const auto process = start({"trials", "s", "--json"}, in, out, err);
  const auto ended = process->wait();
  CHECK(ended->signal == 0);
  CHECK(ended->code == 1);
}

}  // namespace
}  // namespace tandem::tools
