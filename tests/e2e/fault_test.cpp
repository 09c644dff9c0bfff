/// What goes wrong around a study: its data, its disk, its trials. One clear error or one failed trial each, and
/// nothing lost.
#include <sys/mount.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include "tests/e2e/tandem_process.hpp"

namespace tandem::e2e {
namespace {

using nlohmann::json;

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((value >> shift) & 0xff);
  return bytes;
}

/// An IDX file of `count` images, each with a bright square where its label says, or of their labels.
std::string idx_images(std::uint32_t count) {
  std::string bytes = big_endian(0x803) + big_endian(count) + big_endian(28) + big_endian(28);
  for (std::uint32_t image = 0; image < count; ++image) {
    std::string pixels(28 * 28, '\0');
    for (std::uint32_t row = 0; row < 8; ++row) {
      for (std::uint32_t column = 0; column < 5; ++column) {
        pixels[(image % 10 / 5 * 14 + row) * 28 + image % 5 * 5 + column] = '\x7f';
      }
    }
    bytes += pixels;
  }
  return bytes;
}
std::string idx_labels(std::uint32_t count) {
  std::string bytes = big_endian(0x801) + big_endian(count);
  for (std::uint32_t image = 0; image < count; ++image) bytes += static_cast<char>(image % 10);
  return bytes;
}

std::string mnist_study(const std::string& name) {
  return "[study]\nname=\"" + name +
         "\"\nobjectives=[\"accuracy:max\"]\nmax_trials=2\nseed=3\n[trial]\nworkload=\"lenet5\"\ndataset=\"mnist\"\n"
         "epochs=1\n[space]\nlearning_rate={low=1e-2,high=2e-1,log=true}\n";
}

struct ProcessStat {
  int pid = 0, parent = 0;
  std::int64_t user_ticks = 0;
};
/// All processes there are now, from /proc/PID/stat.
std::vector<ProcessStat> processes() {
  std::vector<ProcessStat> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string line, skipped;
    std::getline(file, line);
    if (line.rfind(')') == std::string::npos) continue;  // it ended meanwhile
    std::istringstream fields(line.substr(line.rfind(')') + 1));
    ProcessStat process{.pid = std::stoi(name)};
    fields >> skipped >> process.parent;
    for (int field = 5; field < 14; ++field) fields >> skipped;
    fields >> process.user_ticks;
    found.push_back(process);
  }
  return found;
}
/// Of a running study the process that trains: trial hosts are forked from the study's template.
int busiest_grandchild(int pid) {
  const auto all = processes();
  ProcessStat busiest{.user_ticks = -1};
  for (const ProcessStat& process : all) {
    const bool grandchild = std::any_of(all.begin(), all.end(), [&](const ProcessStat& parent) {
      return parent.pid == process.parent && parent.parent == pid;
    });
    if (grandchild && process.user_ticks > busiest.user_ticks) busiest = process;
  }
  return busiest.pid;
}

class Faults : public TandemProcess {
 protected:
  void write_mnist() {
    std::filesystem::create_directories(data() + "/mnist");
    write("data/mnist/train-images-idx3-ubyte", idx_images(400));
    write("data/mnist/train-labels-idx1-ubyte", idx_labels(400));
    write("data/mnist/t10k-images-idx3-ubyte", idx_images(100));
    write("data/mnist/t10k-labels-idx1-ubyte", idx_labels(100));
  }
  /// It ends by itself, not with 0, and says so in one line that has all of `words`.
  void check_one_error(const Ended& ended, const std::vector<std::string>& words) {
    INFO(ended.err);
    CHECK(ended.signal == 0);
    CHECK(ended.code != 0);
    CHECK(ended.out.empty());
    CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
    for (const std::string& word : words) {
      INFO(word);
      CHECK(ended.err.find(word) != std::string::npos);
    }
  }
  std::vector<json> trials(const std::string& study) { return run({"trials", study, "--json"}).json_lines(); }
};

TEST_CASE_FIXTURE(Faults,
                  "a data file that is missing, cut short or another one ends tune with one error that names it") {
  const std::string study = write("m.toml", mnist_study("mnist"));
  check_one_error(run({"tune", study, "--quiet"}), {"'mnist'", data(), "tandem data get mnist"});

  write_mnist();
  const std::string images = data() + "/mnist/train-images-idx3-ubyte";
  write("data/mnist/train-images-idx3-ubyte", idx_images(400).substr(0, 5000));
  check_one_error(run({"tune", study, "--quiet", "--fresh"}), {images, "cut short"});
  write("data/mnist/train-images-idx3-ubyte", idx_images(400).substr(0, 3));
  check_one_error(run({"tune", study, "--quiet", "--fresh"}), {images});
  write("data/mnist/train-images-idx3-ubyte", idx_labels(400));
  check_one_error(run({"tune", study, "--quiet", "--fresh"}), {images, "magic", "0x00000801", "0x00000803"});
  write("data/mnist/train-images-idx3-ubyte", idx_images(399));
  check_one_error(run({"tune", study, "--quiet", "--fresh"}), {"399", "400"});
}

TEST_CASE_FIXTURE(Faults, "a state directory that cannot be made or written ends tune with one error that names it") {
  const std::string study = write("d.toml", digits_study("digits", 2, 2, ""));
  const std::string blocker = write("blocker", "");
  for (const std::string& state : {blocker, blocker + "/below", std::string("/proc/tandem")}) {
    check_one_error(run({"tune", study, "--quiet", "--state", state}), {state, "state directory"});
  }
}

TEST_CASE_FIXTURE(Faults, "a full disk ends the study with one error, and --resume ends it once there is space") {
  const std::string disk = directory() + "/disk";
  std::filesystem::create_directories(disk);
  if (::mount("none", disk.c_str(), "tmpfs", 0, "size=256k") != 0) {
    MESSAGE("not tested: mounting a small disk needs root");
    return;
  }
  const std::string study = write("d.toml", digits_study("digits", 2, 4, ""));
  check_one_error(run({"tune", study, "--quiet", "--state", disk}), {disk, "no space left", "--resume"});
  const bool grown = ::mount("none", disk.c_str(), "tmpfs", MS_REMOUNT, "size=64m") == 0;
  CHECK(grown);
  const Ended resumed = run({"tune", study, "--quiet", "--json", "--state", disk, "--resume"});
  CHECK(::umount2(disk.c_str(), MNT_DETACH) == 0);
  INFO(resumed.err);
  REQUIRE(resumed.code == 0);
  CHECK(resumed.json()["trials"]["failed"] == 0);
  CHECK(resumed.json()["trials"]["total"] == 2);
}

TEST_CASE_FIXTURE(Faults, "a trial that runs out of memory fails with its cause, and the others go on") {
  // One layer of the first trial, with its gradient and momentum, holds 3.2 GB.
  const std::string study =
      write("d.toml",
            "[study]\nname=\"big\"\nobjectives=[\"accuracy:max\"]\nmax_trials=2\nseed=3\n[trial]\nworkload=\"mlp\"\n"
            "dataset=\"digits\"\nepochs=3\n[space]\nhidden={choice=[16384,32]}\n[search]\nalgorithm=\"grid\"\n");
  const Ended tuned = run({"tune", study, "--quiet", "--json", "--set", "trial.memory=1G"});
  INFO(tuned.err);
  REQUIRE(tuned.code == 0);
  const auto ended = trials("big");
  REQUIRE(ended.size() == 2);
  for (const auto& trial : ended) {
    INFO(trial.dump());
    const bool big = trial["params"]["hidden"] == 16384;
    CHECK((trial["state"] == "failed") == big);
    if (big) CHECK(trial["error"].get<std::string>().find("memory") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Faults,
                  "a trial beyond its memory limit is ended with that cause; with none left, nothing is found") {
  const std::string study = write("d.toml", digits_study("limited", 2, 3, "[system]\nmode=\"fixed\"\n"));
  const Ended tuned = run({"tune", study, "--quiet", "--set", "trial.memory=64M"});
  INFO(tuned.err);
  CHECK(tuned.code == 3);
  const auto ended = trials("limited");
  REQUIRE(ended.size() == 2);
  for (const auto& trial : ended) {
    INFO(trial.dump());
    CHECK(trial["state"] == "failed");
    CHECK(trial["error"].get<std::string>().find("out_of_memory") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Faults, "a trial that diverges to NaN ranks below every other") {
  const std::string study =
      write("d.toml",
            "[study]\nname=\"nan\"\nobjectives=[\"loss:min\"]\nmax_trials=2\nseed=3\n[trial]\nworkload=\"mlp\"\n"
            "dataset=\"digits\"\nepochs=3\n[space]\nlearning_rate={choice=[100.0,0.05]}\nmomentum={choice=[0.99]}\n["
            "search]\nalgorithm=\"grid\"\n");
  const Ended tuned = run({"tune", study, "--quiet", "--json"});
  INFO(tuned.err);
  REQUIRE(tuned.code == 0);
  CHECK(tuned.json()["best"]["params"]["learning_rate"] == 0.05);
}

TEST_CASE_FIXTURE(Faults, "--fresh keeps the old study when the new one cannot begin") {
  const std::string study = write("d.toml", digits_study("kept", 2, 2, "[system]\nmode=\"fixed\"\n"));
  REQUIRE(run({"tune", study, "--quiet"}).code == 0);
  check_one_error(run({"tune", study, "--quiet", "--fresh", "--set", "system.mode=search"}), {"search"});
  check_one_error(run({"tune", study, "--quiet", "--fresh", "--set", "trial.dataset=mnist"}), {"mnist"});
  CHECK(trials("kept").size() == 2);
}

TEST_CASE_FIXTURE(Faults, "a trial's process killed from outside fails that trial only") {
  const std::string file = write("d.toml", digits_study("killed", 2, 100, "[system]\nmode=\"fixed\"\n"));
  const auto study = start_until({"tune", file, "--set", "study.max_parallel=2"}, "epoch 1/100");
  const int busiest = busiest_grandchild(study->identity().pid);
  REQUIRE(busiest > 0);
  REQUIRE(::kill(busiest, SIGKILL) == 0);
  const Ended tuned = wait(*study);
  CHECK(tuned.code == 0);
  const auto ended = trials("killed");
  REQUIRE(ended.size() == 2);
  const bool first = ended[0]["state"] == "failed";
  const json &victim = ended[first ? 0 : 1], &other = ended[first ? 1 : 0];
  CHECK(victim["state"] == "failed");
  CHECK(victim["error"].get<std::string>().find("SIGKILL") != std::string::npos);
  CHECK(other["state"] == "completed");
}

}  // namespace
}  // namespace tandem::e2e
