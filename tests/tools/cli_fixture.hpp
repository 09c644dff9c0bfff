/// CliFixture: the program in this process, with files in memory and a state directory on disk.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/base/clock.hpp"
#include "runtime/base/file_system.hpp"
#include "runtime/base/process_launcher.hpp"
#include "tools/cli/program.hpp"

namespace tandem::tools {

struct CliRun {
  int exit_code = 0;
  std::string out, err;

  [[nodiscard]] std::vector<nlohmann::json> json_lines() const {
    std::vector<nlohmann::json> lines;
    std::istringstream text(out);
    for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }
};

class CliFixture {
 public:
  CliFixture() {
    PosixFileSystem disk;
    directory_ = disk.temporary_name((std::filesystem::temp_directory_path() / "tandem-cli-test").string());
    std::filesystem::create_directories(directory_);
    environment = {{"HOME", directory_}, {"TANDEM_STATE", directory_ + "/state"}};
  }
  ~CliFixture() { std::filesystem::remove_all(directory_); }
  CliFixture(const CliFixture&) = delete;
  CliFixture& operator=(const CliFixture&) = delete;

  [[nodiscard]] const std::string& directory() const { return directory_; }

  CliRun run(const std::vector<std::string>& arguments, const std::string& input = {}) {
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream err;
    Surroundings surroundings{in, out, err, files, launcher, clock, environment, directory_ + "/bin/tandem", false};
    const int exit_code = run_program(arguments, surroundings);
    return {exit_code, out.str(), err.str()};
  }

  MemoryFileSystem files;
  PosixProcessLauncher launcher;
  VirtualClock clock;
  std::map<std::string, std::string> environment;

 private:
  std::string directory_;
};

/// Three epochs, two numbers to search, every report continues.
inline constexpr const char* kPlainStudy = R"([study]
name = "plain"
objectives = ["accuracy:max"]
max_trials = 4
seed = 7

[trial]
epochs = 3

[space]
x = { low = 0.0, high = 1.0 }
batch_size = { choice = [32, 1024] }
)";

}  // namespace tandem::tools
