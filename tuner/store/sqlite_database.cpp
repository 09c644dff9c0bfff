#include "tuner/store/sqlite_database.hpp"

#include <cerrno>
#include <system_error>

#include "tuner/limits.hpp"

namespace tandem::tuner {

namespace {

ErrorCode code_of(int sqlite_code, int system_error) {
  if (system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG) return ErrorCode::resource_exhausted;
  switch (sqlite_code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return ErrorCode::resource_exhausted;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::data_loss;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
      return ErrorCode::permission_denied;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_IOERR:
      return ErrorCode::unavailable;
    default:
      return ErrorCode::internal;
  }
}

std::string_view explanation(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_FULL:
      return "the disk is full";
    case SQLITE_NOTADB:
      return "not a Tandem database";
    case SQLITE_CORRUPT:
      return "the database is damaged";
    case SQLITE_BUSY:
      return "another process has kept it locked for too long";
    case SQLITE_READONLY:
      return "not writable";
    case SQLITE_CANTOPEN:
      return "cannot be opened";
    default:
      return "";
  }
}

}  // namespace

Result<SqliteDatabase> SqliteDatabase::open(const std::string& name, const std::string& path, int flags) {
  SqliteDatabase database;
  database.path_ = path;
  sqlite3* connection = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &connection, flags, nullptr);
  database.connection_.reset(connection);
  if (code != SQLITE_OK) return database.failure(code);
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_timeout(connection, limits::kStoreBusyTimeoutMilliseconds);
  return database;
}

tl::unexpected<Error> SqliteDatabase::failure(int code) const {
  sqlite3* connection = connection_.get();
  const int system_error = connection == nullptr ? 0 : sqlite3_system_errno(connection);
  const int reported = connection == nullptr ? code : sqlite3_extended_errcode(connection);
  const bool is_reported = (reported & 0xff) == (code & 0xff);
  const ErrorCode ours = code_of(code, is_reported ? system_error : 0);
  std::string message(explanation(code));
  const std::string sqlite_message = is_reported ? sqlite3_errmsg(connection) : sqlite3_errstr(code);
  message += message.empty() ? sqlite_message : " (" + sqlite_message + ")";
  if (is_reported && system_error != 0) message += ": " + std::generic_category().message(system_error);
  return tandem::fail(ours, "{}: {}", path_, message);
}

Result<> SqliteDatabase::execute(const char* sql) {
  const int code = sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failure(code);
  return {};
}

Result<SqliteStatement> SqliteDatabase::prepare(const char* sql) {
  const auto found = statements_.find(std::string_view(sql));
  if (found != statements_.end()) return SqliteStatement(found->second.get());
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(connection_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return failure(code);
  statements_.emplace(sql, statement);
  return SqliteStatement(statement);
}

Result<std::int64_t> SqliteDatabase::integer(const char* sql) {
  auto statement = prepare(sql);
  if (!statement) return forward_error(statement);
  if (const int code = statement->step(); code != SQLITE_ROW) return failure(code);
  return statement->integer(0);
}

Result<std::string> SqliteDatabase::text(const char* sql) {
  auto statement = prepare(sql);
  if (!statement) return forward_error(statement);
  if (const int code = statement->step(); code != SQLITE_ROW) return failure(code);
  return statement->text(0);
}

Result<> SqliteDatabase::sync() {
  sqlite3_file* log = nullptr;
  const int code = sqlite3_file_control(connection_.get(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (code != SQLITE_OK) return failure(code);
  if (log == nullptr || log->pMethods == nullptr) return {};  // nothing was written yet
  if (const int synced = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL); synced != SQLITE_OK) return failure(synced);
  return {};
}

Result<SqliteTransaction> SqliteTransaction::begin(SqliteDatabase& database) {
  if (const auto begun = database.execute("BEGIN IMMEDIATE"); !begun) return forward_error(begun);
  return SqliteTransaction(database);
}

SqliteTransaction::~SqliteTransaction() {
  // SQLite may have rolled back by itself, e.g. on a full disk; then this fails, and that is fine.
  if (database_ != nullptr) static_cast<void>(database_->execute("ROLLBACK"));
}

Result<> SqliteTransaction::commit() {
  const auto committed = database_->execute("COMMIT");
  if (committed) database_ = nullptr;
  return committed;
}

}  // namespace tandem::tuner
