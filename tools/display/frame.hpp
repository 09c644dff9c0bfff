/// render_frame: one picture of a running study, as lines of text. Pure, so that tests can look at it.
#pragma once

#include <string>
#include <vector>

#include "actors/study/local_cluster.hpp"

namespace tandem::tools {

struct FrameSize {
  int columns = 80;
  int rows = 24;
  bool utf8 = true;
};

/// At most size.rows lines, none wider than size.columns: a head line with counts and time left, the trials that run,
/// then the latest others as far as there is room, and the best so far.
[[nodiscard]] std::vector<std::string> render_frame(const actors::StudySnapshot& snapshot, const FrameSize& size);

/// "accuracy 0.9722 in trial 7, epoch 9: batch_size=64 …"; empty: none yet.
[[nodiscard]] std::string describe_best_so_far(const actors::StudySnapshot& snapshot);

}  // namespace tandem::tools
