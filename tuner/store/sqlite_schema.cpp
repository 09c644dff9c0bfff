#include "tuner/store/sqlite_schema.hpp"

namespace tandem::tuner {

namespace {

// A new version adds a step to prepare_schema that brings the one before it up to date.
constexpr std::int64_t kSchemaVersion = 1;
constexpr std::int64_t kApplicationId = 0x544e444d;  // "TNDM"

// Events are keyed by study and number: appending writes at the end of one tree, reading walks it.
constexpr auto kTables = R"sql(
CREATE TABLE studies (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  source TEXT NOT NULL,
  seed INTEGER NOT NULL,
  state TEXT NOT NULL,
  created_unix_nanoseconds INTEGER NOT NULL
);
CREATE TABLE events (
  study INTEGER NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (study, number)
) WITHOUT ROWID;
CREATE TABLE documents (
  name TEXT PRIMARY KEY,
  body TEXT NOT NULL
) WITHOUT ROWID;
PRAGMA application_id = 1414415437;
PRAGMA user_version = 1;
)sql";
static_assert(kApplicationId == 1414415437 && kSchemaVersion == 1, "kTables writes both as literals");

/// Changing to WAL needs the file for oneself, and gives up at once where other statements wait.
Result<> enter_wal_mode(SqliteDatabase& database) {
  constexpr int kAttempts = 20;
  Result<std::string> mode = std::string();
  for (int i = 0; i < kAttempts; ++i) {
    mode = database.text("PRAGMA journal_mode = WAL");
    if (mode && *mode == "wal") return {};
    if (!mode && mode.error().code() != ErrorCode::unavailable) return forward_error(mode);
    // Waits, as SQLite's busy time-out does, until whoever holds the file is done.
    const auto turn = SqliteTransaction::begin(database);
    if (!turn) return forward_error(turn);
  }
  if (!mode) return forward_error(mode);
  return fail(ErrorCode::failed_precondition, "{}: the file system does not support write-ahead logging (mode \"{}\")",
              database.path(), *mode);
}

}  // namespace

Result<> check_schema(SqliteDatabase& database) {
  const auto version = database.integer("PRAGMA user_version");
  if (!version) return forward_error(version);
  const auto application = database.integer("PRAGMA application_id");
  if (!application) return forward_error(application);
  if (*application != kApplicationId) return fail(ErrorCode::data_loss, "{}: not a Tandem database", database.path());
  if (*version > kSchemaVersion) {
    return fail(ErrorCode::failed_precondition,
                "{}: written by a newer version of Tandem (schema version {}; this one reads up to {})",
                database.path(), *version, kSchemaVersion);
  }
  return {};
}

Result<> prepare_schema(SqliteDatabase& database) {
  if (const auto wal = enter_wal_mode(database); !wal) return wal;
  // NORMAL: a commit is in the log, so it survives this process; `flush` makes it survive the machine.
  if (const auto set = database.execute("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;"); !set) return set;
  auto transaction = SqliteTransaction::begin(database);
  if (!transaction) return forward_error(transaction);
  const auto tables = database.integer("SELECT count(*) FROM sqlite_schema");
  if (!tables) return forward_error(tables);
  const auto application = database.integer("PRAGMA application_id");
  if (!application) return forward_error(application);
  if (*tables != 0 || *application != 0) return check_schema(database);
  if (const auto made = database.execute(kTables); !made) return made;
  return transaction->commit();
}

}  // namespace tandem::tuner
