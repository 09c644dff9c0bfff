#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "tuner/limits.hpp"
#include "tuner/store/sqlite_database.hpp"
#include "tuner/store/sqlite_schema.hpp"
#include "tuner/store/store.hpp"
#include "tuner/store/study_lock.hpp"

namespace tandem::tuner {

namespace {

constexpr auto kStudyColumns = "SELECT name, source, seed, state, created_unix_nanoseconds FROM studies";

tl::unexpected<Error> no_study(std::string_view study, const std::string& path) {
  return fail(ErrorCode::not_found, "no study \"{}\" in {}", study, path);
}

StudyRecord read_study(const SqliteStatement& row) {
  return {row.text(0), row.text(1), static_cast<std::uint64_t>(row.integer(2)), row.text(3), row.integer(4)};
}

class SqliteStore final : public Store {
 public:
  SqliteStore(SqliteDatabase database, std::string directory)
      : database_(std::move(database)), directory_(std::move(directory)) {}

  Result<std::vector<StudyRecord>> studies() override {
    static const std::string sql = fmt::format("{} ORDER BY id", kStudyColumns);
    auto query = database_.prepare(sql.c_str());
    if (!query) return forward_error(query);
    std::vector<StudyRecord> records;
    int code = query->step();
    for (; code == SQLITE_ROW; code = query->step()) records.push_back(read_study(*query));
    if (code != SQLITE_DONE) return database_.failure(code);
    return records;
  }

  Result<std::optional<StudyRecord>> find(std::string_view study) override {
    static const std::string sql = fmt::format("{} WHERE name = ?", kStudyColumns);
    auto query = database_.prepare(sql.c_str());
    if (!query) return forward_error(query);
    query->bind(1, study);
    const int code = query->step();
    if (code == SQLITE_ROW) return read_study(*query);
    if (code != SQLITE_DONE) return database_.failure(code);
    return std::nullopt;
  }

  Result<> create(const StudyRecord& study) override {
    auto insert = database_.prepare(
        "INSERT INTO studies (name, source, seed, state, created_unix_nanoseconds) VALUES (?, ?, ?, ?, ?)");
    if (!insert) return forward_error(insert);
    insert->bind(1, study.name);
    insert->bind(2, study.source);
    insert->bind(3, static_cast<std::int64_t>(study.seed));
    insert->bind(4, study.state);
    insert->bind(5, study.created_unix_nanoseconds);
    const int code = insert->step();
    if (code == SQLITE_CONSTRAINT_UNIQUE) {
      return fail(ErrorCode::already_exists, "study \"{}\" exists already in {}", study.name, database_.path());
    }
    if (code != SQLITE_DONE) return database_.failure(code);
    return {};
  }

  Result<> erase(std::string_view study) override {
    return change(study, "DELETE FROM studies WHERE name = ?", std::nullopt);
  }

  Result<> set_state(std::string_view study, std::string_view state) override {
    return change(study, "UPDATE studies SET state = ?2 WHERE name = ?1", state);
  }

  Result<> append(std::string_view study, const std::vector<Event>& events) override {
    if (events.empty()) return {};
    auto transaction = SqliteTransaction::begin(database_);
    if (!transaction) return forward_error(transaction);
    const auto id = id_of(study);
    if (!id) return forward_error(id);
    auto next = next_number(*id);
    if (!next) return forward_error(next);
    for (const auto& event : events) {
      if (const auto inserted = insert_event(*id, (*next)++, encode_event(event)); !inserted) return inserted;
    }
    return transaction->commit();
  }

  Result<std::vector<Event>> events(std::string_view study) override {
    const auto id = id_of(study);
    if (!id) return forward_error(id);
    auto query = database_.prepare("SELECT number, body FROM events WHERE study = ? ORDER BY number");
    if (!query) return forward_error(query);
    query->bind(1, *id);
    std::vector<Event> events;
    int code = query->step();
    for (; code == SQLITE_ROW; code = query->step()) {
      auto event = decode_event(query->text(1));
      if (!event || query->integer(0) != static_cast<std::int64_t>(events.size())) {
        return fail(ErrorCode::data_loss, "{}: event {} of study \"{}\": {}", database_.path(), events.size(), study,
                    event ? "is missing" : event.error().message());
      }
      events.push_back(std::move(*event));
    }
    if (code != SQLITE_DONE) return database_.failure(code);
    return events;
  }

  Result<> flush() override { return database_.sync(); }

  Result<> claim(std::string_view study) override {
    const bool safe = !study.empty() && study.size() <= limits::kMaxNameLength && study.front() != '.' &&
                      study.find('/') == std::string_view::npos && study.find('\0') == std::string_view::npos;
    if (!safe) return fail(ErrorCode::invalid_argument, "\"{}\" is not the name of a study", study);
    if (locks_.contains(study)) return {};
    auto lock = StudyLock::take(directory_ + "/locks", study);
    if (!lock) return forward_error(lock);
    locks_.emplace(study, std::move(*lock));
    return {};
  }

  void release(std::string_view study) override {
    if (const auto found = locks_.find(study); found != locks_.end()) locks_.erase(found);
  }

  Result<std::optional<std::string>> document(std::string_view name) override {
    auto query = database_.prepare("SELECT body FROM documents WHERE name = ?");
    if (!query) return forward_error(query);
    query->bind(1, name);
    const int code = query->step();
    if (code == SQLITE_ROW) return query->text(0);
    if (code != SQLITE_DONE) return database_.failure(code);
    return std::nullopt;
  }

  Result<> put_document(std::string_view name, std::string_view text) override {
    if (text.size() > limits::kMaxDocumentBytes) {
      return fail(ErrorCode::resource_exhausted, "document \"{}\" has {} bytes; at most {} are allowed", name,
                  text.size(), limits::kMaxDocumentBytes);
    }
    auto insert = database_.prepare(
        "INSERT INTO documents (name, body) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET body = excluded.body");
    if (!insert) return forward_error(insert);
    insert->bind(1, name);
    insert->bind(2, text);
    if (const int code = insert->step(); code != SQLITE_DONE) return database_.failure(code);
    return {};
  }

 private:
  Result<std::int64_t> id_of(std::string_view study) {
    auto query = database_.prepare("SELECT id FROM studies WHERE name = ?");
    if (!query) return forward_error(query);
    query->bind(1, study);
    const int code = query->step();
    if (code == SQLITE_ROW) return query->integer(0);
    if (code != SQLITE_DONE) return database_.failure(code);
    return no_study(study, database_.path());
  }

  Result<std::int64_t> next_number(std::int64_t id) {
    auto query = database_.prepare("SELECT coalesce(max(number) + 1, 0) FROM events WHERE study = ?");
    if (!query) return forward_error(query);
    query->bind(1, id);
    if (const int code = query->step(); code != SQLITE_ROW) return database_.failure(code);
    return query->integer(0);
  }

  Result<> insert_event(std::int64_t id, std::int64_t number, const std::string& body) {
    auto insert = database_.prepare("INSERT INTO events (study, number, body) VALUES (?, ?, ?)");
    if (!insert) return forward_error(insert);
    insert->bind(1, id);
    insert->bind(2, number);
    insert->bind(3, body);
    if (const int code = insert->step(); code != SQLITE_DONE) return database_.failure(code);
    return {};
  }

  /// Runs a statement on the one row of `study`.
  Result<> change(std::string_view study, const char* sql, std::optional<std::string_view> value) {
    auto statement = database_.prepare(sql);
    if (!statement) return forward_error(statement);
    statement->bind(1, study);
    if (value) statement->bind(2, *value);
    if (const int code = statement->step(); code != SQLITE_DONE) return database_.failure(code);
    if (database_.changes() == 0) return no_study(study, database_.path());
    return {};
  }

  SqliteDatabase database_;
  std::string directory_;
  std::map<std::string, StudyLock, std::less<>> locks_;
};

Result<> make_directory(const std::string& directory) {
  std::error_code error;
  const std::filesystem::path path(directory);
  if (std::filesystem::is_directory(path, error)) {
    if (::access(directory.c_str(), W_OK | X_OK) == 0) return {};
    return fail(ErrorCode::permission_denied, "{}: the state directory is not writable", directory);
  }
  error.clear();  // that there is none yet is no failure
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (!error && ::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) error = {errno, std::generic_category()};
  if (!error && std::filesystem::is_directory(path, error)) return {};
  const bool full = error == std::errc::no_space_on_device;
  return fail(full ? ErrorCode::resource_exhausted : ErrorCode::permission_denied,
              "{}: the state directory cannot be made: {}", directory,
              error ? error.message() : std::string("a file of that name is in the way"));
}

/// A file name as a URI.
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

Result<SqliteDatabase> open_for_reading(const std::string& path) {
  // Writable if it can be, so that SQLite may recover the log of a process that was killed; and even from a medium that
  // allows no writing at all, when no log is left.
  struct Way {
    std::string name;
    int flags;
  };
  std::vector<Way> ways{{path, SQLITE_OPEN_READWRITE}, {path, SQLITE_OPEN_READONLY}};
  std::error_code error;
  if (!std::filesystem::exists(path + "-wal", error)) {
    ways.push_back({immutable_uri(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI});
  }
  Result<> last;
  for (const auto& way : ways) {
    auto database = SqliteDatabase::open(way.name, path, way.flags);
    last = database ? check_schema(*database) : Result<>(forward_error(database));
    if (last) last = database->execute("PRAGMA query_only = ON");
    if (last) return database;
    if (last.error().code() != ErrorCode::permission_denied) break;
  }
  return forward_error(last);
}

}  // namespace

Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& directory) {
  if (const auto made = make_directory(directory); !made) return forward_error(made);
  const std::string path = directory + "/tandem.db";
  auto database = SqliteDatabase::open(path, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!database) return forward_error(database);
  if (const auto prepared = prepare_schema(*database); !prepared) return forward_error(prepared);
  return std::make_unique<SqliteStore>(std::move(*database), directory);
}

Result<std::unique_ptr<Store>> open_sqlite_store_read_only(const std::string& directory) {
  const std::string path = directory + "/tandem.db";
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return fail(ErrorCode::not_found, "no studies in {}: {} does not exist", directory, path);
  }
  auto database = open_for_reading(path);
  if (!database) return forward_error(database);
  return std::make_unique<SqliteStore>(std::move(*database), directory);
}

}  // namespace tandem::tuner
