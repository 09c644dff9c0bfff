/// The in-process suite: actors in one process, against a peer where one was found. Rounds alternate.
/// Usage: bench_in_process [--json] [--rounds N] [--case NAME]
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/report.hpp"
#include "benchmarks/runtime/in_process/contender.hpp"

namespace tandem::bench {

double small_work(std::uint64_t seed) { return std::sin(static_cast<double>(seed)) * std::cos(0.5); }

std::uint64_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  unsigned long total = 0, resident = 0;
  const int read = file != nullptr ? std::fscanf(file, "%lu %lu", &total, &resident) : 0;
  if (file != nullptr) std::fclose(file);
  return read == 2 ? resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

namespace {

struct Case {
  const char* name;
  const char* metric;
  const char* unit;
  double amount;  ///< per round; 0: the function's own result is the figure
  double (Contender::*play)();
};

const Case kCases[] = {
    {"idle-actor", "memory", "bytes", 0, &Contender::idle_actor_bytes},
    {"ping-pong", "throughput", "msg/s", kPingPongMessages, &Contender::ping_pong},
    {"ring", "throughput", "msg/s", kRingMessages, &Contender::ring},
    {"counting", "throughput", "msg/s", kCountingMessages, &Contender::counting},
    {"fork-join-throughput", "throughput", "msg/s", kForkJoinActors* kForkJoinMessagesEach,
     &Contender::fork_join_throughput},
    {"fork-join-create", "throughput", "actor/s", kForkJoinCreated, &Contender::fork_join_create},
    {"big", "throughput", "msg/s", 2.0 * kBigActors* kBigPingsEach, &Contender::big},
    {"chameneos", "throughput", "meeting/s", kChameneosMeetings, &Contender::chameneos},
    {"blocking-ask", "latency", "us", kBlockingAsks, &Contender::blocking_ask},
    {"short-lives", "throughput", "actor/s", kShortLives, &Contender::short_lives},
};

/// Plays in a child, whose memory nothing has touched before.
double in_child(Contender& contender, double (Contender::*play)()) {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const double result = (contender.*play)();
    const bool told = write(ends[1], &result, sizeof(result)) == sizeof(result);
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  double result = 0;
  if (child < 0 || read(ends[0], &result, sizeof(result)) != sizeof(result)) result = 0;
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return result;
}

double figure(const Case& each, Contender& contender) {
  if (each.amount == 0) return in_child(contender, each.play);
  const double seconds = (contender.*each.play)();
  return std::string_view(each.metric) == "latency" ? seconds / each.amount * 1e6 : each.amount / seconds;
}

void play(const Case& each, const std::vector<Contender*>& contenders, int rounds, Report& report) {
  std::vector<std::vector<double>> figures(contenders.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < contenders.size(); ++i) figures[i].push_back(figure(each, *contenders[i]));
  }
  Measurement measured;
  measured.suite = "runtime-in-process";
  measured.label = each.name;
  measured.metric = each.metric;
  measured.unit = each.unit;
  measured.value = median(figures[0]);
  measured.runs = rounds;
  measured.more_is_better = std::string_view(each.metric) == "throughput";
  if (contenders.size() > 1) measured.baseline = Baseline{contenders[1]->name(), median(figures[1])};
  report.add(measured);
}

}  // namespace
}  // namespace tandem::bench

int main(int count, char** arguments) {
  using namespace tandem::bench;
  bool json = false;
  int rounds = 5;
  std::string only;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--json") {
      json = true;
    } else if (argument == "--rounds" && i + 1 < count) {
      rounds = std::atoi(arguments[++i]);
    } else if (argument == "--case" && i + 1 < count) {
      only = arguments[++i];
    } else {
      fmt::print(stderr, "usage: bench_in_process [--json] [--rounds N] [--case NAME]\n");
      return 2;
    }
  }
  std::vector<Contender*> contenders = {&tandem_contender()};
#ifdef TANDEM_BENCH_CAF
  contenders.push_back(&caf_contender());
#else
  fmt::print(stderr, "CAF (libcaf-dev) was not found when this was built: no baseline\n");
#endif
  Report report(json);
  bool found = false;
  for (const Case& each : kCases) {
    if (!only.empty() && only != each.name) continue;
    found = true;
    play(each, contenders, std::max(rounds, 1), report);
  }
  if (!found) fmt::print(stderr, "there is no case '{}'\n", only);
  return found ? 0 : 2;
}
