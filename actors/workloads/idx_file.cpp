#include "actors/workloads/idx_file.hpp"

#include <array>
#include <span>

#include "actors/workloads/limits.hpp"

namespace tandem::actors {

namespace {

constexpr std::uint32_t kLabelsMagic = 0x0801;  // unsigned bytes, one dimension
constexpr std::uint32_t kImagesMagic = 0x0803;  // unsigned bytes, three dimensions
constexpr std::size_t kWordBytes = 4;

std::uint32_t word_at(std::string_view bytes, std::size_t offset) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < kWordBytes; ++i) word = word << 8U | static_cast<unsigned char>(bytes[offset + i]);
  return word;
}

/// Checks the header and that exactly the announced bytes follow it; fills `dimensions` and returns those bytes.
Result<std::string_view> body(std::string_view bytes, std::uint32_t magic, std::span<std::uint32_t> dimensions,
                              std::string_view name) {
  const std::size_t header_bytes = kWordBytes * (1 + dimensions.size());
  if (bytes.size() < header_bytes) {
    return fail(ErrorCode::data_loss, "{}: cut short: {} bytes, but an IDX header has {}", name, bytes.size(),
                header_bytes);
  }
  if (word_at(bytes, 0) != magic) {
    return fail(ErrorCode::data_loss, "{}: offset 0: magic number 0x{:08x}, but an IDX file of {} begins with 0x{:08x}",
                name, word_at(bytes, 0), magic == kImagesMagic ? "images" : "labels", magic);
  }
  std::uint64_t expected = 1;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const std::size_t offset = kWordBytes * (1 + i);
    const std::uint32_t limit = i == 0 ? kIdxImages : kImageSide;
    dimensions[i] = word_at(bytes, offset);
    if (dimensions[i] == 0 || dimensions[i] > limit) {
      return fail(ErrorCode::data_loss, "{}: offset {}: dimension {} is {}, allowed are 1 to {}", name, offset, i,
                  dimensions[i], limit);
    }
    expected *= dimensions[i];
  }
  const std::uint64_t actual = bytes.size() - header_bytes;
  if (actual != expected) {
    return fail(ErrorCode::data_loss, "{}: {}: {} bytes follow the header, but its dimensions ask for {}", name,
                actual < expected ? "cut short" : "too long", actual, expected);
  }
  return bytes.substr(header_bytes);
}

}  // namespace

Result<LabelledImages> parse_idx_images(std::string_view bytes, std::string_view name) {
  std::array<std::uint32_t, 3> dimensions{};
  const auto pixels = body(bytes, kImagesMagic, dimensions, name);
  if (!pixels) return forward_error(pixels);
  LabelledImages images;
  images.height = dimensions[1];
  images.width = dimensions[2];
  images.pixels.assign(pixels->begin(), pixels->end());
  return images;
}

Result<std::vector<std::uint8_t>> parse_idx_labels(std::string_view bytes, int classes, std::string_view name) {
  std::array<std::uint32_t, 1> dimensions{};
  const auto labels = body(bytes, kLabelsMagic, dimensions, name);
  if (!labels) return forward_error(labels);
  for (std::size_t i = 0; i < labels->size(); ++i) {
    const int label = static_cast<unsigned char>((*labels)[i]);
    if (label >= classes) {
      return fail(ErrorCode::data_loss, "{}: offset {}: label {} of sample {} is outside 0 to {}", name,
                  2 * kWordBytes + i, label, i, classes - 1);
    }
  }
  return std::vector<std::uint8_t>(labels->begin(), labels->end());
}

}  // namespace tandem::actors
