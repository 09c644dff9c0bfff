#include "actors/workloads/split.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "runtime/base/random.hpp"

namespace tandem::actors {

namespace {

void append(LabelledImages& to, const LabelledImages& from, std::int64_t index) {
  const std::uint8_t* image = from.image(index);
  to.pixels.insert(to.pixels.end(), image, image + from.pixels_per_image());
  to.labels.push_back(from.labels[static_cast<std::size_t>(index)]);
}

/// How many of each label to hold out: its exact share rounded down, then one more for the largest remainders.
std::map<std::uint8_t, std::int64_t> quotas(const std::map<std::uint8_t, std::vector<std::int64_t>>& by_label,
                                            std::int64_t held_out, std::int64_t total) {
  std::map<std::uint8_t, std::int64_t> quota;
  std::vector<std::pair<std::int64_t, std::uint8_t>> remainders;
  std::int64_t left = held_out;
  for (const auto& [label, indices] : by_label) {
    const std::int64_t product = static_cast<std::int64_t>(indices.size()) * held_out;
    quota[label] = product / total;
    left -= quota[label];
    remainders.emplace_back(-(product % total), label);
  }
  std::sort(remainders.begin(), remainders.end());
  for (std::int64_t i = 0; i < left; ++i) ++quota[remainders[static_cast<std::size_t>(i)].second];
  return quota;
}

}  // namespace

std::pair<LabelledImages, LabelledImages> hold_out(const LabelledImages& images, std::int64_t held_out,
                                                   std::uint64_t seed) {
  std::map<std::uint8_t, std::vector<std::int64_t>> by_label;
  for (std::int64_t i = 0; i < images.size(); ++i) by_label[images.labels[static_cast<std::size_t>(i)]].push_back(i);
  held_out = std::min(held_out, images.size());

  std::vector<bool> out(images.labels.size());
  Random random(seed);
  const auto quota = quotas(by_label, held_out, std::max<std::int64_t>(images.size(), 1));
  for (auto& [label, indices] : by_label) {
    random.shuffle(std::span<std::int64_t>(indices));
    for (std::int64_t i = 0; i < quota.at(label); ++i)
      out[static_cast<std::size_t>(indices[static_cast<std::size_t>(i)])] = true;
  }

  std::pair<LabelledImages, LabelledImages> parts;
  for (LabelledImages* part : {&parts.first, &parts.second}) {
    part->height = images.height;
    part->width = images.width;
    const std::int64_t size = part == &parts.second ? held_out : images.size() - held_out;
    part->labels.reserve(static_cast<std::size_t>(size));
    part->pixels.reserve(static_cast<std::size_t>(size) * images.pixels_per_image());
  }
  for (std::int64_t i = 0; i < images.size(); ++i) {
    append(out[static_cast<std::size_t>(i)] ? parts.second : parts.first, images, i);
  }
  return parts;
}

}  // namespace tandem::actors
