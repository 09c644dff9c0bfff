/// FileSystem: the only way the project touches files. Real in production, in memory and faulty in tests.
///
/// Errors name the path and the reason, "/x/y: no space left on device", and their code tells what to do:
/// not_found (no such file), permission_denied (access refused, read-only device), resource_exhausted (device,
/// quota or descriptors used up, or larger than the caller's limit), already_exists, failed_precondition (a directory
/// where a file was meant or the reverse, a directory not empty), unavailable (any other input/output error).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"

namespace tandem {

/// Thread-safe. Paths are relative to the working directory unless they begin with '/'.
class FileSystem {
 public:
  /// What a finished write survives.
  enum class Durability {
    process_crash,  ///< the operating system has the bytes
    power_loss,     ///< the device has the bytes and the name: the call waits for it
  };

  static constexpr std::size_t kReadLimitBytes = std::size_t{1} << 30;
  static constexpr unsigned kFileMode = 0644;
  static constexpr unsigned kDirectoryMode = 0755;

  virtual ~FileSystem() = default;

  /// The whole file; resource_exhausted when it holds more than `limit_bytes`. Reads /proc and /sys too.
  [[nodiscard]] virtual Result<std::string> read_file(const std::string& path,
                                                      std::size_t limit_bytes = kReadLimitBytes) const = 0;
  /// Readers see the old file or the new one, never a part; after a failure the old file stands.
  virtual Result<> write_file_atomic(const std::string& path, std::string_view bytes,
                                     Durability durability = Durability::process_crash, unsigned mode = kFileMode) = 0;
  /// Overwrites in place, for device and control files (/sys) that can be neither created nor renamed.
  virtual Result<> write_in_place(const std::string& path, std::string_view bytes) = 0;
  /// Creates the file if need be. A failure may leave a part of `bytes` behind.
  virtual Result<> append(const std::string& path, std::string_view bytes,
                          Durability durability = Durability::process_crash, unsigned mode = kFileMode) = 0;

  [[nodiscard]] virtual bool exists(const std::string& path) const = 0;
  [[nodiscard]] virtual bool is_directory(const std::string& path) const = 0;
  /// Whether this process may write the file, or create names in the directory.
  [[nodiscard]] virtual bool is_writable(const std::string& path) const = 0;
  [[nodiscard]] virtual Result<std::uint64_t> file_size(const std::string& path) const = 0;
  /// Names in the directory without "." and "..", sorted.
  [[nodiscard]] virtual Result<std::vector<std::string>> list(const std::string& directory) const = 0;

  /// A file or an empty directory.
  virtual Result<> remove(const std::string& path) = 0;
  /// Replaces `to` if it exists.
  virtual Result<> rename(const std::string& from, const std::string& to) = 0;
  /// With its parents; fine if it exists already. `mode` counts for directories made by this call.
  virtual Result<> make_directories(const std::string& path, unsigned mode = kDirectoryMode) = 0;

  /// A name beside `path`, different at every call and in every live process: "state.tmp-4711-3".
  [[nodiscard]] virtual std::string temporary_name(const std::string& path) = 0;
};

/// The operating system's files. Descriptors it opens are close-on-exec.
class PosixFileSystem final : public FileSystem {
 public:
  [[nodiscard]] Result<std::string> read_file(const std::string& path,
                                              std::size_t limit_bytes = kReadLimitBytes) const override;
  Result<> write_file_atomic(const std::string& path, std::string_view bytes,
                             Durability durability = Durability::process_crash, unsigned mode = kFileMode) override;
  Result<> write_in_place(const std::string& path, std::string_view bytes) override;
  Result<> append(const std::string& path, std::string_view bytes, Durability durability = Durability::process_crash,
                  unsigned mode = kFileMode) override;
  [[nodiscard]] bool exists(const std::string& path) const override;
  [[nodiscard]] bool is_directory(const std::string& path) const override;
  [[nodiscard]] bool is_writable(const std::string& path) const override;
  [[nodiscard]] Result<std::uint64_t> file_size(const std::string& path) const override;
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& directory) const override;
  Result<> remove(const std::string& path) override;
  Result<> rename(const std::string& from, const std::string& to) override;
  Result<> make_directories(const std::string& path, unsigned mode = kDirectoryMode) override;
  [[nodiscard]] std::string temporary_name(const std::string& path) override;

 private:
  std::atomic<std::uint64_t> temporary_count_{0};
};

/// Files in memory with faults on demand: a device of bounded size, and trees that refuse access.
/// Paths are compared as written; "/" exists from the start.
class MemoryFileSystem final : public FileSystem {
 public:
  MemoryFileSystem();

  /// All files together hold at most this many bytes; more is "no space left on device".
  void set_capacity_bytes(std::uint64_t bytes);
  /// Every access at or below `path` is refused with permission_denied.
  void deny_access(const std::string& path);
  /// Only writing at or below `path` is refused, as on a read-only device.
  void deny_writing(const std::string& path);
  /// The next `count` writes (atomic, in place, append, rename, remove) fail with `error`'s code and message.
  void fail_next_writes(int count, Error error);
  /// Puts a file and its directories there, past all faults.
  void seed(const std::string& path, std::string_view bytes);

  [[nodiscard]] Result<std::string> read_file(const std::string& path,
                                              std::size_t limit_bytes = kReadLimitBytes) const override;
  Result<> write_file_atomic(const std::string& path, std::string_view bytes,
                             Durability durability = Durability::process_crash, unsigned mode = kFileMode) override;
  Result<> write_in_place(const std::string& path, std::string_view bytes) override;
  Result<> append(const std::string& path, std::string_view bytes, Durability durability = Durability::process_crash,
                  unsigned mode = kFileMode) override;
  [[nodiscard]] bool exists(const std::string& path) const override;
  [[nodiscard]] bool is_directory(const std::string& path) const override;
  [[nodiscard]] bool is_writable(const std::string& path) const override;
  [[nodiscard]] Result<std::uint64_t> file_size(const std::string& path) const override;
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& directory) const override;
  Result<> remove(const std::string& path) override;
  Result<> rename(const std::string& from, const std::string& to) override;
  Result<> make_directories(const std::string& path, unsigned mode = kDirectoryMode) override;
  [[nodiscard]] std::string temporary_name(const std::string& path) override;

 private:
  /// A file has bytes, a directory has none.
  using Node = std::optional<std::string>;

  Result<> check_readable(const std::string& path) const;
  Result<> check_writable(const std::string& path);
  Result<> store(const std::string& path, std::string bytes);
  [[nodiscard]] bool denied(const std::vector<std::string>& trees, const std::string& path) const;
  [[nodiscard]] bool has_children(const std::string& path) const;
  void make_parents(const std::string& path);

  mutable std::mutex mutex_;
  std::map<std::string, Node> nodes_;
  std::uint64_t capacity_bytes_ = UINT64_MAX;
  std::vector<std::string> unreadable_;
  std::vector<std::string> unwritable_;
  int failing_writes_ = 0;
  std::optional<Error> write_error_;
  std::uint64_t temporary_count_ = 0;
};

/// The error for an errno at `path`, worded and coded as FileSystem's are.
[[nodiscard]] Error system_error(std::string_view path, int error_number);

}  // namespace tandem
