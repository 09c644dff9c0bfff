/// TandemProcess: the built program with a state directory of its own, for tests of whole studies.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/base/file_system.hpp"
#include "runtime/base/process_launcher.hpp"

namespace tandem::e2e {

struct Ended {
  int code = -1;
  int signal = 0;
  std::string out, err;
  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out); }
  [[nodiscard]] std::vector<nlohmann::json> json_lines() const {
    std::vector<nlohmann::json> lines;
    std::istringstream text(out);
    for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }
};

class TandemProcess {
 public:
  TandemProcess() {
    directory_ = files_.temporary_name((std::filesystem::temp_directory_path() / "tandem-e2e").string());
    REQUIRE(files_.make_directories(directory_).has_value());
  }
  ~TandemProcess() { std::filesystem::remove_all(directory_); }
  TandemProcess(const TandemProcess&) = delete;
  TandemProcess& operator=(const TandemProcess&) = delete;

  /// Path of a new file in the directory.
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = directory_ + "/" + name;
    REQUIRE(files_.write_file_atomic(path, text).has_value());
    return path;
  }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] std::string state() const { return directory_ + "/state"; }
  /// Where it looks for data sets beside the shipped ones; empty at first.
  [[nodiscard]] std::string data() const { return directory_ + "/data"; }

  /// Starts it at the head of its own process group; stdout and stderr go to files, so that it never blocks on us.
  std::unique_ptr<Process> start(const std::vector<std::string>& arguments) {
    ProcessSpec spec;
    spec.argv = {std::string(TANDEM_BINARY_DIR) + "/bin/tandem"};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    spec.environment["TANDEM_STATE"] = state();
    spec.environment["TANDEM_DATA"] = data();
    spec.new_process_group = true;
    const int out = open_output("out");
    const int err = open_output("err");
    spec.standard_output = StreamSource::from(out);
    spec.standard_error = StreamSource::from(err);
    auto process = launcher_.spawn(spec);
    ::close(out);
    ::close(err);
    REQUIRE_MESSAGE(process.has_value(), process.error().message());
    return std::move(*process);
  }

  Ended wait(Process& process) {
    const auto status = process.wait();
    REQUIRE(status.has_value());
    return {status->code, status->signal, *files_.read_file(directory_ + "/out"),
            *files_.read_file(directory_ + "/err")};
  }

  Ended run(const std::vector<std::string>& arguments) { return wait(*start(arguments)); }

  /// Starts it and returns once it has said `word` on stderr.
  std::unique_ptr<Process> start_until(const std::vector<std::string>& arguments, const std::string& word) {
    auto process = start(arguments);
    const auto said = [this] { return *files_.read_file(directory_ + "/err"); };
    while (said().find(word) == std::string::npos) {
      const auto ended = process->wait_for(std::chrono::milliseconds(5));
      REQUIRE(ended.has_value());
      REQUIRE_MESSAGE(!ended->has_value(), said());
    }
    return process;
  }

 private:
  int open_output(const std::string& name) {
    const int descriptor = ::open((directory_ + "/" + name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    REQUIRE(descriptor >= 0);
    return descriptor;
  }

  PosixFileSystem files_;
  PosixProcessLauncher launcher_;
  std::string directory_;
};

/// A short study on the shipped digits.
inline std::string digits_study(const std::string& name, int trials, int epochs, const std::string& more) {
  return "[study]\nname=\"" + name + "\"\nobjectives=[\"accuracy:max\"]\nmax_trials=" + std::to_string(trials) +
         "\nseed=3\n[trial]\nworkload=\"mlp\"\ndataset=\"digits\"\nepochs=" + std::to_string(epochs) +
         "\n[space]\nlearning_rate={low=1e-2,high=2e-1,log=true}\nbatch_size={choice=[32,64]}\n" + more;
}

}  // namespace tandem::e2e
