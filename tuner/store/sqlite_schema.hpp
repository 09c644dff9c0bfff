/// The tables of tandem.db, and how a database comes to have them. Private to tuner/store.
#pragma once

#include "tuner/store/sqlite_database.hpp"

namespace tandem::tuner {

/// WAL mode, and the tables when there are none. Several processes may do so at once.
Result<> prepare_schema(SqliteDatabase& database);
/// Errors: the file holds something else, or was written by a newer version.
Result<> check_schema(SqliteDatabase& database);

}  // namespace tandem::tuner
