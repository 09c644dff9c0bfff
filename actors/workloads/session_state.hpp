/// SessionState: a session at rest, as bytes. Little-endian: magic, version, fingerprint, length, payload, checksum.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"

namespace tandem::actors {

struct SessionState {
  std::uint64_t fingerprint = 0;  ///< of workload, data set, hyperparameters and seed
  std::int64_t step_index = 0;
  std::int64_t epoch_samples = 0;  ///< of the training loss so far
  double epoch_loss = 0;
  std::int64_t optimizer_updates = 0;
  std::vector<std::vector<float>> arrays;  ///< parameters first, then the optimizer's
};

[[nodiscard]] std::string write_state(const SessionState& state);
/// data_loss when the bytes are damaged, cut short or of another version.
[[nodiscard]] Result<SessionState> read_state(std::string_view bytes);

}  // namespace tandem::actors
