/// Seconds per epoch of LeNet-5 on MNIST under one static configuration, or under the whole grid, one process each.
///
///   bench_lenet_epoch DATA_DIRECTORY                                   the grid, repeated in alternation
///   bench_lenet_epoch DATA_DIRECTORY BATCH CORES THREADS REPLICAS MICRO_BATCH ALLOCATOR [STEPS]
///
/// THREADS 0 leaves the framework untouched (then nothing is applied at all). STEPS bounds the measured steps; the
/// epoch is extrapolated from them. Output: one line of JSON per run.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "actors/workloads/workload_registry.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/host/affinity.hpp"

namespace {

using namespace tandem;

struct Configuration {
  std::int64_t batch = 256;
  std::int64_t cores = 1;
  std::int64_t threads = 1;  ///< 0: untouched defaults
  std::int64_t replicas = 1;
  std::int64_t micro_batch = 0;
  std::string allocator = "default";
};

constexpr std::int64_t kWarmUpSteps = 3;
constexpr std::int64_t kGridSamples = 16'384;  ///< measured per run of the grid
constexpr int kGridRounds = 2;

int report(const char* what, const Error& error) {
  std::fprintf(stderr, "%s: %s\n", what, error.message().c_str());
  return 1;
}

int measure(const std::string& data, const Configuration& configuration, std::int64_t step_limit) {
  actors::WorkloadRegistry registry;
  actors::SessionSpec spec;
  spec.workload = "lenet5";
  spec.dataset = "mnist";
  spec.data_directory = data;
  spec.params = {{"batch_size", configuration.batch}};
  spec.seed = 1;
  auto session = registry.open(spec);
  if (!session) return report("open", session.error());
  if (configuration.threads > 0) {
    std::vector<int> processors(static_cast<std::size_t>(configuration.cores));
    std::iota(processors.begin(), processors.end(), 0);
    if (const auto bound = runtime::set_process_affinity(processors); !bound) return report("cores", bound.error());
    const auto applied = (*session)->apply({{"cores", configuration.cores},
                                            {"threads", configuration.threads},
                                            {"replicas", configuration.replicas},
                                            {"micro_batch", configuration.micro_batch},
                                            {"allocator", configuration.allocator}});
    if (!applied) return report("apply", applied.error());
    if (const auto placed = (*session)->place(processors); !placed) return report("place", placed.error());
  }
  const std::int64_t steps = std::min((*session)->steps_per_epoch(), step_limit);
  const SystemClock clock;
  MonotonicTime begin = clock.now();
  for (std::int64_t i = -std::min(kWarmUpSteps, steps); i < steps; ++i) {
    if (i == 0) begin = clock.now();
    if (const auto stepped = (*session)->step(); !stepped) return report("step", stepped.error());
  }
  const double step_seconds = to_seconds(clock.now() - begin) / static_cast<double>(steps);
  std::printf(
      "{\"batch\":%lld,\"cores\":%lld,\"threads\":%lld,\"replicas\":%lld,\"micro_batch\":%lld,"
      "\"allocator\":\"%s\",\"step_ms\":%.3f,\"epoch_seconds\":%.3f}\n",
      static_cast<long long>(configuration.batch), static_cast<long long>(configuration.cores),
      static_cast<long long>(configuration.threads), static_cast<long long>(configuration.replicas),
      static_cast<long long>(configuration.micro_batch), configuration.allocator.c_str(), 1e3 * step_seconds,
      step_seconds * static_cast<double>((*session)->steps_per_epoch()));
  return 0;
}

std::vector<Configuration> grid() {
  std::vector<Configuration> all;
  for (const std::int64_t batch : {32, 256, 1024}) {
    all.push_back({batch, 2, 0, 1, 0, "default"});
    for (const char* allocator : {"default", "retain"}) {
      for (const auto& [cores, threads, replicas] : {std::array<std::int64_t, 3>{1, 1, 1}, {2, 2, 1}, {2, 1, 2}}) {
        for (const std::int64_t micro_batch : {0, 32, 128}) {
          if (micro_batch * replicas <= batch) all.push_back({batch, cores, threads, replicas, micro_batch, allocator});
        }
      }
    }
  }
  return all;
}

/// Each run in a process of its own: OpenMP's and oneDNN's state must not leak from one to the next.
int run_grid(const char* program, const std::string& data) {
  for (int round = 0; round < kGridRounds; ++round) {
    for (const Configuration& each : grid()) {
      const pid_t child = ::fork();
      if (child == 0) {
        const bool untouched = each.threads == 0;
        if (!untouched) {
          ::setenv("OMP_WAIT_POLICY", "passive", 1);
          ::setenv("OPENBLAS_THREAD_TIMEOUT", "4", 1);
        }
        std::vector<std::string> words = {program,
                                          data,
                                          std::to_string(each.batch),
                                          std::to_string(each.cores),
                                          std::to_string(each.threads),
                                          std::to_string(each.replicas),
                                          std::to_string(each.micro_batch),
                                          each.allocator,
                                          std::to_string(std::max<std::int64_t>(8, kGridSamples / each.batch))};
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        ::execv("/proc/self/exe", arguments.data());
        ::_exit(127);
      }
      int status = 0;
      if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) return 1;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) return run_grid(argv[0], argv[1]);
  if (argc != 8 && argc != 9) {
    std::fprintf(stderr, "usage: %s DATA_DIRECTORY [BATCH CORES THREADS REPLICAS MICRO_BATCH ALLOCATOR [STEPS]]\n",
                 argv[0]);
    return 2;
  }
  const auto number = [&](int i) { return std::strtoll(argv[i], nullptr, 10); };
  return measure(argv[1], {number(2), number(3), number(4), number(5), number(6), argv[7]},
                 argc == 9 ? number(8) : INT64_MAX);
}
