#include <doctest/doctest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/tuner/store/temporary_directory.hpp"
#include "tuner/store/store.hpp"

using namespace tandem;
using namespace tandem::tuner;

namespace {

void run_sql(const std::string& path, const char* sql) {
  sqlite3* connection = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &connection) == SQLITE_OK);
  REQUIRE(sqlite3_exec(connection, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(connection);
}

void write_file(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

Error refusal(const std::string& directory) {
  const auto store = open_sqlite_store(directory);
  REQUIRE(!store);
  return store.error();
}

}  // namespace

TEST_CASE("a file that is no database is data loss, naming the file, and stays as it is") {
  TemporaryDirectory directory;
  const std::string path = directory.path() + "/tandem.db";
  const std::string text(5000, 'x');
  write_file(path, text);
  const Error error = refusal(directory.path());
  CHECK(error.code() == ErrorCode::data_loss);
  CHECK(error.message().find(path) == 0);
  CHECK(std::filesystem::file_size(path) == text.size());
  CHECK(open_sqlite_store_read_only(directory.path()).error().code() == ErrorCode::data_loss);
}

TEST_CASE("a database of another program is refused") {
  TemporaryDirectory directory;
  run_sql(directory.path() + "/tandem.db", "CREATE TABLE notes (text TEXT)");
  const Error error = refusal(directory.path());
  CHECK(error.code() == ErrorCode::data_loss);
  CHECK(error.message().find("not a Tandem database") != std::string::npos);
}

TEST_CASE("a database of a newer schema version is refused, and left alone") {
  TemporaryDirectory directory;
  REQUIRE(open_sqlite_store(directory.path()));
  run_sql(directory.path() + "/tandem.db", "PRAGMA user_version = 2");
  const Error error = refusal(directory.path());
  CHECK(error.code() == ErrorCode::failed_precondition);
  CHECK(error.message().find("newer version of Tandem (schema version 2; this one reads up to 1)") !=
        std::string::npos);
  CHECK(open_sqlite_store_read_only(directory.path()).error().code() == ErrorCode::failed_precondition);
}

TEST_CASE("a damaged event is data loss, naming file, number and study") {
  TemporaryDirectory directory;
  const std::string path = directory.path() + "/tandem.db";
  auto store = *open_sqlite_store(directory.path());
  REQUIRE(store->create({"one", "", 1, "running", 0}));
  REQUIRE(store->append("one", {TrialStarted{0, 0, "w"}, TrialStarted{0, 0, "w"}, TrialStarted{0, 0, "w"}}));
  run_sql(path, "UPDATE events SET body = '{' WHERE number = 1");
  const auto damaged = store->events("one");
  REQUIRE(!damaged);
  CHECK(damaged.error().code() == ErrorCode::data_loss);
  CHECK(damaged.error().message().find(path + ": event 1 of study \"one\"") == 0);
  run_sql(path, "DELETE FROM events WHERE number = 1");
  CHECK(store->events("one").error().message().find("event 1 of study \"one\": is missing") != std::string::npos);
}

TEST_CASE("overwritten pages are data loss") {
  TemporaryDirectory directory;
  const std::string path = directory.path() + "/tandem.db";
  {
    auto store = *open_sqlite_store(directory.path());
    REQUIRE(store->create({"one", std::string(20'000, 's'), 1, "running", 0}));
    REQUIRE(store->append("one", std::vector<Event>(200, TrialStarted{0, 0, std::string(100, 'w')})));
  }
  const auto size = std::filesystem::file_size(path);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(size - 4096, '\x55');
  }
  auto store = open_sqlite_store(directory.path());
  const auto damaged = store ? (*store)->events("one") : Result<std::vector<Event>>(forward_error(store));
  REQUIRE(!damaged);
  CHECK(damaged.error().code() == ErrorCode::data_loss);
  CHECK(damaged.error().message().find(path) == 0);
}

TEST_CASE("a directory that cannot be written is named") {
  TemporaryDirectory directory;
  write_file(directory.path() + "/file", "");
  const Error in_the_way = refusal(directory.path() + "/file");
  CHECK(in_the_way.code() == ErrorCode::permission_denied);
  CHECK(in_the_way.message().find(directory.path() + "/file") == 0);
  CHECK(refusal(directory.path() + "/file/state").message().find(directory.path() + "/file/state") == 0);
  CHECK(refusal("/proc/tandem").code() == ErrorCode::permission_denied);
  if (::geteuid() == 0) return;  // root may write anywhere
  std::filesystem::permissions(directory.path(),
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const Error error = refusal(directory.path());
  std::filesystem::permissions(directory.path(), std::filesystem::perms::owner_all);
  CHECK(error.code() == ErrorCode::permission_denied);
  CHECK(error.message().find(directory.path()) == 0);
}

TEST_CASE("a full disk refuses the append as a whole; with room again the store goes on") {
  TemporaryDirectory directory;
  auto store = *open_sqlite_store(directory.path());
  REQUIRE(store->create({"one", "", 1, "running", 0}));
  const Event small = TrialStarted{0, 0, "w"};
  REQUIRE(store->append("one", {small}));
  // A limit on the size of files stands for the end of the disk.
  struct rlimit before {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit narrow = before;
  narrow.rlim_cur = 256 * 1024;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &narrow) == 0);
  const auto refused = store->append("one", {small, TrialFailed{0, "failed", std::string(4 << 20, 'x')}});
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, old_handler);
  REQUIRE(!refused);
  CHECK(refused.error().code() == ErrorCode::resource_exhausted);
  CHECK(refused.error().message().find(directory.path()) == 0);
  CHECK(store->events("one")->size() == 1);
  REQUIRE(store->append("one", {small}));
  CHECK(store->events("one")->size() == 2);
}
