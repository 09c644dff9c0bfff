/// Store: where studies outlive the process. SQLite here; a server later.
/// SQLite does its own file I/O: this room is the one that does not go through FileSystem.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "tuner/study/event.hpp"

namespace tandem::tuner {

struct StudyRecord {
  std::string name;
  std::string source;  ///< the study file's text, overrides applied
  std::uint64_t seed = 0;
  std::string state = "running";  ///< running | finished | stopped | failed
  std::int64_t created_unix_nanoseconds = 0;
};

/// Not thread-safe; one per thread or actor. Several processes may open one state directory.
class Store {
 public:
  virtual ~Store() = default;
  virtual Result<std::vector<StudyRecord>> studies() = 0;
  virtual Result<std::optional<StudyRecord>> find(std::string_view study) = 0;
  /// already_exists if there is one of that name.
  virtual Result<> create(const StudyRecord& study) = 0;
  /// Removes the study and all it recorded.
  virtual Result<> erase(std::string_view study) = 0;
  /// All of `events`, in order, or none. On return they survive a crash of the process;
  /// they survive power loss after the next `flush`. resource_exhausted: the disk is full.
  virtual Result<> append(std::string_view study, const std::vector<Event>& events) = 0;
  virtual Result<std::vector<Event>> events(std::string_view study) = 0;
  virtual Result<> set_state(std::string_view study, std::string_view state) = 0;
  virtual Result<> flush() = 0;
  /// One writer per study at a time: refused while another living process holds it, naming its pid.
  virtual Result<> claim(std::string_view study) = 0;
  virtual void release(std::string_view study) = 0;
  /// Named documents beside the studies, e.g. "ground_truth"; written atomically.
  virtual Result<std::optional<std::string>> document(std::string_view name) = 0;
  virtual Result<> put_document(std::string_view name, std::string_view text) = 0;
};

/// `directory`/tandem.db in WAL mode, made when missing (mode 0700), and `directory`/locks for claims: locks of the
/// operating system, so that a process that dies, however it dies, claims nothing any more.
/// Errors name the path: permission_denied, not writable; data_loss, not a database or damaged; failed_precondition, of
/// a newer schema version; resource_exhausted, the disk is full.
[[nodiscard]] Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& directory);
/// For reading only: not_found when there is none; never creates anything.
[[nodiscard]] Result<std::unique_ptr<Store>> open_sqlite_store_read_only(const std::string& directory);
/// In memory, for tests and simulation.
[[nodiscard]] std::unique_ptr<Store> make_memory_store();

}  // namespace tandem::tuner
