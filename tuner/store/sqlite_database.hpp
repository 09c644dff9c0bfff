/// SqliteDatabase: one SQLite connection, its prepared statements, and its errors in our terms.
/// Private to tuner/store.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/base/result.hpp"

namespace tandem::tuner {

/// A prepared statement in use; given back, reset, when it goes.
class SqliteStatement {
 public:
  explicit SqliteStatement(sqlite3_stmt* statement) noexcept : statement_(statement) {}
  SqliteStatement(SqliteStatement&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  SqliteStatement& operator=(SqliteStatement&&) = delete;
  ~SqliteStatement() {
    if (statement_ == nullptr) return;
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }

  /// Texts must live until the statement has run.
  void bind(int index, std::int64_t number) noexcept { sqlite3_bind_int64(statement_, index, number); }
  void bind(int index, std::string_view text) noexcept {
    const char* begin = text.data() == nullptr ? "" : text.data();  // a null pointer would bind NULL
    sqlite3_bind_text64(statement_, index, begin, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  }
  /// SQLITE_ROW, SQLITE_DONE or an error.
  int step() noexcept { return sqlite3_step(statement_); }
  void reset() noexcept { sqlite3_reset(statement_); }

  [[nodiscard]] std::int64_t integer(int column) const noexcept { return sqlite3_column_int64(statement_, column); }
  [[nodiscard]] std::string text(int column) const {
    const auto* begin = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return begin == nullptr ? std::string()
                            : std::string(begin, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
  }

 private:
  sqlite3_stmt* statement_;
};

class SqliteDatabase {
 public:
  /// `flags` as of sqlite3_open_v2; `name` may be a URI.
  static Result<SqliteDatabase> open(const std::string& name, const std::string& path, int flags);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Runs statements without results.
  Result<> execute(const char* sql);
  /// The statement of `sql`, prepared once. It must not be in use already.
  Result<SqliteStatement> prepare(const char* sql);
  /// The first column of the first row.
  Result<std::int64_t> integer(const char* sql);
  Result<std::string> text(const char* sql);
  /// The last error, which `code` was, as ours, with the file's path.
  [[nodiscard]] tl::unexpected<Error> failure(int code) const;
  /// Makes what was committed survive power loss, by syncing the write-ahead log.
  Result<> sync();
  [[nodiscard]] std::int64_t changes() const noexcept { return sqlite3_changes(connection_.get()); }

 private:
  struct Close {
    void operator()(sqlite3* connection) const noexcept { sqlite3_close_v2(connection); }
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
  };

  std::string path_;
  std::unique_ptr<sqlite3, Close> connection_;
  std::map<std::string, std::unique_ptr<sqlite3_stmt, Finalize>, std::less<>> statements_;
};

/// Rolls back when it goes without a commit.
class SqliteTransaction {
 public:
  static Result<SqliteTransaction> begin(SqliteDatabase& database);
  SqliteTransaction(SqliteTransaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  SqliteTransaction& operator=(SqliteTransaction&&) = delete;
  ~SqliteTransaction();
  Result<> commit();

 private:
  explicit SqliteTransaction(SqliteDatabase& database) noexcept : database_(&database) {}
  SqliteDatabase* database_;
};

}  // namespace tandem::tuner
