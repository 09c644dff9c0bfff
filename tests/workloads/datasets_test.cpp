#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "actors/workloads/data_file.hpp"
#include "actors/workloads/dataset.hpp"
#include "actors/workloads/dataset_catalog.hpp"
#include "actors/workloads/digits_csv.hpp"
#include "actors/workloads/idx_file.hpp"
#include "actors/workloads/limits.hpp"
#include "actors/workloads/split.hpp"

namespace tandem::actors {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string word(std::uint32_t value) {
  return {static_cast<char>(value >> 24U), static_cast<char>(value >> 16U), static_cast<char>(value >> 8U),
          static_cast<char>(value)};
}

std::string images_file(std::uint32_t count, std::uint32_t height = 28, std::uint32_t width = 28) {
  return word(0x803) + word(count) + word(height) + word(width) + std::string(std::size_t{count} * height * width, 7);
}

std::string labels_file(std::uint32_t count) {
  std::string bytes = word(0x801) + word(count);
  for (std::uint32_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>(i % 10));
  return bytes;
}

std::string gzip(const std::string& content) {
  z_stream stream{};
  REQUIRE(::deflateInit2(&stream, 1, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(::deflateBound(&stream, content.size()) + 32, '\0');
  std::string input = content;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(::deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

DataPaths only(const std::string& directory) { return {directory, {}, {}}; }

TEST_CASE("gzip is told by its first bytes, members are joined, plain files stand as they are") {
  const std::string content = std::string(300'000, 'a') + "end";
  CHECK(unpack(gzip(content), "f").value() == content);
  CHECK(unpack(gzip("one ") + gzip("two"), "f").value() == "one two");
  CHECK(unpack(gzip(""), "f").value().empty());
  CHECK(unpack("plain", "f").value() == "plain");
}

TEST_CASE("damaged gzip data is refused by name and place") {
  const std::string good = gzip(std::string(9'000, 'a') + "b");
  std::string wrong_sum = good;
  wrong_sum[wrong_sum.size() - 8] ^= 1;
  struct Case {
    const char* what;
    std::string bytes;
    const char* message;
  };
  const std::vector<Case> cases = {{"in the header", good.substr(0, 5), "cut short"},
                                   {"in the data", good.substr(0, good.size() - 12), "cut short"},
                                   {"in the checksum", good.substr(0, good.size() - 1), "cut short"},
                                   {"wrong checksum", wrong_sum, "damaged gzip"},
                                   {"something behind it", good + "rest", "damaged gzip"}};
  for (const Case& each : cases) {
    CAPTURE(each.what);
    const auto unpacked = unpack(each.bytes, "/d/x.gz");
    REQUIRE_FALSE(unpacked);
    CHECK(unpacked.error().code() == ErrorCode::data_loss);
    CHECK(contains(unpacked.error().message(), "/d/x.gz"));
    CHECK(contains(unpacked.error().message(), each.message));
  }
}

TEST_CASE("IDX files are read") {
  const auto images = parse_idx_images(images_file(3, 4, 5), "i");
  REQUIRE(images);
  CHECK(images->height == 4);
  CHECK(images->width == 5);
  CHECK(images->pixels == std::vector<std::uint8_t>(60, 7));
  CHECK(parse_idx_labels(labels_file(3), 10, "l").value() == std::vector<std::uint8_t>{0, 1, 2});
}

TEST_CASE("a wrong IDX file is refused with its name and what is wrong") {
  const auto images = [](const std::string& bytes) {
    const auto parsed = parse_idx_images(bytes, "file");
    return parsed ? std::string() : parsed.error().message();
  };
  const auto labels = [](const std::string& bytes) {
    const auto parsed = parse_idx_labels(bytes, 10, "file");
    return parsed ? std::string() : parsed.error().message();
  };
  std::string label_ten = labels_file(12);
  label_ten[8 + 11] = 10;
  struct Case {
    std::string message;
    const char* expected;
  };
  const std::vector<Case> cases = {
      {images(""), "cut short: 0 bytes"},
      {images(images_file(2).substr(0, 15)), "cut short: 15 bytes"},
      {images(images_file(2).substr(0, 1'000)),
       "cut short: 984 bytes follow the header, but its dimensions ask for 1568"},
      {images(images_file(2) + "x"), "too long"},
      {images(labels_file(20)), "offset 0: magic number 0x00000801"},
      {images(word(0x803) + word(0) + word(28) + word(28)), "offset 4: dimension 0 is 0"},
      {images(word(0x803) + word(1) + word(0xFFFFFFFF) + word(28)), "offset 8: dimension 1 is 4294967295"},
      {labels(images_file(1)), "offset 0: magic number 0x00000803"},
      {labels(labels_file(9).substr(0, 12)), "cut short: 4 bytes"},
      {labels(label_ten), "offset 19: label 10 of sample 11 is outside 0 to 9"},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(i);
    CHECK(contains(cases[i].message, "file: "));
    CHECK(contains(cases[i].message, cases[i].expected));
  }
}

TEST_CASE("CSV rows are read, whatever their line ends") {
  const CsvShape shape{1, 2, 16, 10};
  const auto images = parse_csv_images("1, 2,3\r\n16,0,9", shape, "f");
  REQUIRE(images);
  CHECK(images->pixels == std::vector<std::uint8_t>{1, 2, 16, 0});
  CHECK(images->labels == std::vector<std::uint8_t>{3, 9});
  CHECK(parse_csv_images("1,2,3\n", shape, "f").value().size() == 1);
}

TEST_CASE("a wrong CSV file is refused with line and column") {
  const CsvShape shape{1, 2, 16, 10};
  struct Case {
    const char* text;
    const char* expected;
  };
  const std::vector<Case> cases = {
      {"", "no rows"},
      {"1,2,3\n1,2\n", "line 2: 2 columns, but 3 are needed"},
      {"1,2,3,4\n", "line 1: 4 columns"},
      {"1,2,3\n\n1,2,3\n", "line 2: 1 columns"},
      {"1,x,3\n", "line 1, column 2: 'x' is not a whole number"},
      {"1,,3\n", "line 1, column 2: '' is not a whole number"},
      {"1,2.5,3\n", "line 1, column 2: '2.5' is not a whole number"},
      {"1,17,3\n", "line 1, column 2: 17 is outside 0 to 16"},
      {"-1,2,3\n", "line 1, column 1: -1 is outside 0 to 16"},
      {"1,2,10\n", "line 1, column 3: 10 is outside 0 to 9"},
      {"1,99999999999999999999,3\n", "line 1, column 2: 99999999999999999999 is outside"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.text);
    const auto images = parse_csv_images(each.text, shape, "file");
    REQUIRE_FALSE(images);
    CHECK(images.error().code() == ErrorCode::data_loss);
    CHECK(contains(images.error().message(), each.expected));
  }
}

TEST_CASE("held-out samples are stratified, disjoint and the same for the same seed") {
  LabelledImages images;
  images.height = 1;
  images.width = 2;
  for (int i = 0; i < 200; ++i) {
    images.pixels.push_back(static_cast<std::uint8_t>(i));
    images.pixels.push_back(static_cast<std::uint8_t>(i / 2));
    images.labels.push_back(static_cast<std::uint8_t>(i % 8 == 0 ? 1 : 0));  // 25 ones
  }
  const auto [kept, out] = hold_out(images, 40, 5);
  CHECK(kept.size() == 160);
  CHECK(out.size() == 40);
  CHECK(std::count(out.labels.begin(), out.labels.end(), 1) == 5);
  std::vector<int> seen;
  for (const LabelledImages* part : {&kept, &out}) {
    for (std::int64_t i = 0; i < part->size(); ++i) seen.push_back(*part->image(i));
  }
  std::sort(seen.begin(), seen.end());
  for (int i = 0; i < 200; ++i) REQUIRE(seen[static_cast<std::size_t>(i)] == i);
  CHECK(hold_out(images, 40, 5).second.pixels == out.pixels);
  CHECK(hold_out(images, 40, 6).second.pixels != out.pixels);
  CHECK(hold_out(images, 1'000, 5).second.size() == 200);
}

TEST_CASE("the shipped digits load with their splits, every class in each") {
  const PosixFileSystem files;
  const DatasetInfo& info = *find_dataset("digits");
  const auto location = locate("digits", only(std::string(TANDEM_SOURCE_DIR) + "/actors/workloads/data"), files);
  REQUIRE(location);
  const auto dataset = load_dataset(info, *location, files);
  REQUIRE(dataset);
  CHECK((*dataset)->training.size() == 1'077);
  CHECK((*dataset)->validation.size() == 360);
  CHECK((*dataset)->test.size() == 360);
  for (const LabelledImages* split : {&(*dataset)->training, &(*dataset)->validation, &(*dataset)->test}) {
    const double expected = static_cast<double>(split->size()) / 10;
    for (std::uint8_t label = 0; label < 10; ++label) {
      const auto count = std::count(split->labels.begin(), split->labels.end(), label);
      CHECK(std::abs(static_cast<double>(count) - expected) < 0.05 * expected + 2);
    }
  }
  CHECK((*dataset)->pixel_mean > 0.2);
  CHECK((*dataset)->pixel_mean < 0.4);
  CHECK(default_data_paths({}).all().size() >= 2);
  CHECK(locate("digits", default_data_paths({}), files));
}

TEST_CASE("the catalog's sizes add up and every file has a checksum") {
  for (const DatasetInfo& info : builtin_datasets()) {
    CAPTURE(info.name);
    CHECK(find_dataset(info.name) == &info);
    for (const DatasetFile& file : info.files) CHECK(file.content_sha256.size() == 64);
    if (info.format != DatasetInfo::Format::idx_images) continue;
    REQUIRE(info.files.size() == 4);
    const auto images = static_cast<std::uint64_t>(info.training + info.validation);
    CHECK(info.files[0].content_bytes == 16 + images * 784);
    CHECK(info.files[3].content_bytes == 8 + static_cast<std::uint64_t>(info.test));
  }
}

void seed_mnist(MemoryFileSystem& files, const std::string& directory, const std::string& suffix) {
  for (const DatasetFile& file : find_dataset("mnist")->files) files.seed(directory + "/" + file.name + suffix, "x");
}

TEST_CASE("the directory of a data set is found in the order of the paths") {
  MemoryFileSystem files;
  const DataPaths paths{"/user", {"/shipped"}, "/environment"};
  seed_mnist(files, "/environment/mnist", ".gz");
  CHECK(locate("mnist", paths, files).value().directory == "/environment/mnist");
  seed_mnist(files, "/shipped/mnist", "");
  CHECK(locate("mnist", paths, files).value().directory == "/shipped/mnist");
  files.seed("/user/mnist/train-images-idx3-ubyte", "x");  // not complete
  CHECK(locate("mnist", paths, files).value().directory == "/shipped/mnist");
  seed_mnist(files, "/user/mnist", "");
  CHECK(locate("mnist", paths, files).value().files.at(3) == "/user/mnist/t10k-labels-idx1-ubyte");
}

TEST_CASE("files without a folder count only where their name or the folder's leaves no doubt") {
  MemoryFileSystem files;
  seed_mnist(files, "/data/mnist", "");
  CHECK(locate("mnist", only("/data/mnist/"), files));
  CHECK_FALSE(locate("fashion-mnist", only("/data/mnist"), files));
  files.seed("/flat/digits.csv.gz", "x");
  CHECK(locate("digits", only("/flat"), files).value().files.at(0) == "/flat/digits.csv.gz");
}

TEST_CASE("a missing data set names the places and the command that gets it") {
  const MemoryFileSystem files;
  const auto missing = locate("mnist", {"/user", {"/shipped"}, "/environment"}, files);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code() == ErrorCode::not_found);
  for (const char* part : {"/user", "/shipped", "/environment", "tandem data get mnist"}) {
    CHECK(contains(missing.error().message(), part));
  }
  const auto unknown = locate("minst", only("/user"), files);
  REQUIRE_FALSE(unknown);
  CHECK(contains(unknown.error().message(), "digits, mnist, fashion-mnist"));
}

TEST_CASE("files that do not belong together are refused") {
  struct Case {
    const char* what;
    std::function<void(MemoryFileSystem&)> change;
    const char* expected;
  };
  const std::vector<Case> cases = {
      {"labels missing", [](auto& files) { files.seed("/m/mnist/train-labels-idx1-ubyte", labels_file(19)); },
       "19 labels"},
      {"another size", [](auto& files) { files.seed("/m/mnist/t10k-images-idx3-ubyte", images_file(10, 8, 8)); },
       "8 by 8 pixels"},
      {"too few samples", [](auto&) {}, "30 samples, but mnist has 70000"},
      {"cut short", [](auto& files) { files.seed("/m/mnist/t10k-labels-idx1-ubyte", "abc"); },
       "t10k-labels-idx1-ubyte: cut short"},
      {"access refused", [](auto& files) { files.deny_access("/m/mnist/t10k-images-idx3-ubyte"); }, "mnist"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.what);
    MemoryFileSystem files;
    files.seed("/m/mnist/train-images-idx3-ubyte", images_file(20));
    files.seed("/m/mnist/train-labels-idx1-ubyte", labels_file(20));
    files.seed("/m/mnist/t10k-images-idx3-ubyte", images_file(10));
    files.seed("/m/mnist/t10k-labels-idx1-ubyte", labels_file(10));
    const auto location = locate("mnist", only("/m"), files);
    REQUIRE(location);
    each.change(files);
    const auto dataset = load_dataset(*find_dataset("mnist"), *location, files);
    REQUIRE_FALSE(dataset);
    CHECK(contains(dataset.error().message(), each.expected));
  }
}

}  // namespace
}  // namespace tandem::actors
