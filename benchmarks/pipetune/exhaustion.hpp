/// The best single static configuration of a study, found by measuring every sensible one at every batch size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "tuner/space/value.hpp"

namespace tandem::benchmarks {

struct ExhaustionSettings {
  std::string program;  ///< bench_lenet_epoch
  std::string data;
  int cores = 1;
  std::int64_t samples = 8'192;           ///< measured of each configuration and batch size
  std::vector<std::int64_t> batch_sizes;  ///< of the study's trials, repetitions and all
};

struct StaticConfiguration {
  tuner::Parameters system;
  double epoch_seconds = 0;  ///< one epoch of every trial of the study
};

/// All, the fastest first. A chunk larger than a replica's share of a batch is that share.
[[nodiscard]] Result<std::vector<StaticConfiguration>> exhaust(const ExhaustionSettings& settings);

}  // namespace tandem::benchmarks
