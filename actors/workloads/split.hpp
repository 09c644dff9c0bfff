/// Splits: which samples are held out, seeded and stratified by label.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "actors/workloads/dataset.hpp"

namespace tandem::actors {

/// {kept, held out}: `held_out` samples with each label in its share (largest remainders first), chosen by `seed`;
/// both parts keep the order of `images`. Takes the smaller of `held_out` and all.
[[nodiscard]] std::pair<LabelledImages, LabelledImages> hold_out(const LabelledImages& images, std::int64_t held_out,
                                                                 std::uint64_t seed);

}  // namespace tandem::actors
