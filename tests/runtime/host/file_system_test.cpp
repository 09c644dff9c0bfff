#include "runtime/base/file_system.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <set>

#include "tests/runtime/host/temporary_directory.hpp"

using namespace tandem;

namespace {

/// Runs the same expectations against both implementations, each with an empty directory.
void for_both(const std::function<void(FileSystem&, const std::string& root)>& expect) {
  SUBCASE("posix") {
    PosixFileSystem files;
    const TemporaryDirectory directory;
    expect(files, directory.path());
  }
  SUBCASE("memory") {
    MemoryFileSystem files;
    REQUIRE(files.make_directories("/root"));
    expect(files, "/root");
  }
}

}  // namespace

TEST_CASE("a written file is read back whole, an older one replaced, and no temporary name left") {
  for_both([](FileSystem& files, const std::string& root) {
    const std::string path = root + "/state";
    const std::string large(300'000, 'x');
    REQUIRE(files.write_file_atomic(path, "first"));
    REQUIRE(files.write_file_atomic(path, large, FileSystem::Durability::power_loss));
    CHECK(files.read_file(path) == large);
    CHECK(files.file_size(path) == large.size());
    CHECK(files.list(root) == std::vector<std::string>{"state"});
  });
}

TEST_CASE("append creates the file and then adds to it") {
  for_both([](FileSystem& files, const std::string& root) {
    REQUIRE(files.append(root + "/log", "one "));
    REQUIRE(files.append(root + "/log", "two", FileSystem::Durability::power_loss));
    CHECK(files.read_file(root + "/log") == "one two");
  });
}

TEST_CASE("write_in_place needs the file to be there") {
  for_both([](FileSystem& files, const std::string& root) {
    CHECK(files.write_in_place(root + "/limit", "5").error().code() == ErrorCode::not_found);
    REQUIRE(files.write_file_atomic(root + "/limit", "1"));
    REQUIRE(files.write_in_place(root + "/limit", "5"));
    CHECK(files.read_file(root + "/limit") == "5");
  });
}

TEST_CASE("a file larger than the reader's limit is refused, one of exactly that size is not") {
  for_both([](FileSystem& files, const std::string& root) {
    const std::string path = root + "/data";
    REQUIRE(files.write_file_atomic(path, std::string(10'000, 'x')));
    CHECK(files.read_file(path, 10'000));
    const auto refused = files.read_file(path, 9'999);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == ErrorCode::resource_exhausted);
    CHECK(refused.error().message().find(path) != std::string::npos);
  });
}

TEST_CASE("errors name the path and carry the code of the reason") {
  for_both([](FileSystem& files, const std::string& root) {
    REQUIRE(files.write_file_atomic(root + "/file", "x"));
    REQUIRE(files.make_directories(root + "/full/below"));
    const auto missing = files.read_file(root + "/missing");
    CHECK(missing.error().message() == root + "/missing: no such file or directory");
    struct Case {
      const char* what;
      Result<> outcome;
      ErrorCode code;
    };
    auto drop = [](const auto& result) { return result ? Result<>() : Result<>(forward_error(result)); };
    const Case cases[] = {
        {"read missing", drop(missing), ErrorCode::not_found},
        {"read directory", drop(files.read_file(root)), ErrorCode::failed_precondition},
        {"write below nothing", files.write_file_atomic(root + "/no/file", "x"), ErrorCode::not_found},
        {"remove missing", files.remove(root + "/missing"), ErrorCode::not_found},
        {"remove full directory", files.remove(root + "/full"), ErrorCode::failed_precondition},
        {"rename missing", files.rename(root + "/missing", root + "/other"), ErrorCode::not_found},
        {"directory over file", files.make_directories(root + "/file/below"), ErrorCode::failed_precondition},
        {"list file", drop(files.list(root + "/file")), ErrorCode::failed_precondition},
        {"list missing", drop(files.list(root + "/missing")), ErrorCode::not_found},
        {"size of missing", drop(files.file_size(root + "/missing")), ErrorCode::not_found},
    };
    for (const auto& [what, outcome, code] : cases) {
      CAPTURE(what);
      REQUIRE_FALSE(outcome);
      CHECK(outcome.error().code() == code);
      CHECK(outcome.error().message().starts_with(root));
    }
  });
}

TEST_CASE("directories are made with their parents, again without complaint, and removed when empty") {
  for_both([](FileSystem& files, const std::string& root) {
    REQUIRE(files.make_directories(root + "/a/b/c"));
    REQUIRE(files.make_directories(root + "/a/b/c"));
    REQUIRE(files.make_directories(root + "/a/b/c/"));
    CHECK(files.is_directory(root + "/a/b"));
    CHECK(files.is_writable(root + "/a/b"));
    REQUIRE(files.remove(root + "/a/b/c"));
    CHECK_FALSE(files.exists(root + "/a/b/c"));
  });
}

TEST_CASE("rename moves a file over another and a directory with what it holds") {
  for_both([](FileSystem& files, const std::string& root) {
    REQUIRE(files.write_file_atomic(root + "/new", "new"));
    REQUIRE(files.write_file_atomic(root + "/old", "old"));
    REQUIRE(files.rename(root + "/new", root + "/old"));
    CHECK(files.read_file(root + "/old") == "new");
    CHECK_FALSE(files.exists(root + "/new"));
    REQUIRE(files.make_directories(root + "/from"));
    REQUIRE(files.write_file_atomic(root + "/from/file", "x"));
    REQUIRE(files.rename(root + "/from", root + "/to"));
    CHECK(files.read_file(root + "/to/file") == "x");
  });
}

TEST_CASE("temporary names differ at every call and stand beside the file") {
  for_both([](FileSystem& files, const std::string& root) {
    std::set<std::string> names;
    for (int i = 0; i < 100; ++i) names.insert(files.temporary_name(root + "/state"));
    CHECK(names.size() == 100);
    CHECK(names.begin()->starts_with(root + "/state.tmp-"));
  });
}

TEST_CASE("files that call themselves empty are read to their end") {
  const PosixFileSystem files;
  const auto status = files.read_file("/proc/self/status");
  REQUIRE(status);
  CHECK(status->find("Threads:") != std::string::npos);
}

TEST_CASE("modes are applied to new files and directories") {
  PosixFileSystem files;
  const TemporaryDirectory directory;
  REQUIRE(files.make_directories(directory / "state", 0700));
  REQUIRE(files.write_file_atomic(directory / "state/token", "secret", FileSystem::Durability::process_crash, 0600));
  struct stat status {};
  REQUIRE(::stat((directory / "state/token").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  REQUIRE(::stat((directory / "state").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
}

TEST_CASE("a device without room is resource_exhausted") {
  PosixFileSystem files;
  const auto full = files.append("/dev/full", "x");
  REQUIRE_FALSE(full);
  CHECK(full.error().code() == ErrorCode::resource_exhausted);
  CHECK(full.error().message() == "/dev/full: no space left on device");
}

TEST_CASE("a write that finds the memory device full leaves the old file standing") {
  MemoryFileSystem files;
  files.seed("/state/db", "old");
  files.set_capacity_bytes(100);
  const auto written = files.write_file_atomic("/state/db", std::string(101, 'x'));
  REQUIRE_FALSE(written);
  CHECK(written.error().code() == ErrorCode::resource_exhausted);
  CHECK(written.error().message() == "/state/db: no space left on device");
  CHECK(files.read_file("/state/db") == "old");
  CHECK(files.write_file_atomic("/state/db", std::string(100, 'x')));
}

TEST_CASE("denied trees refuse reading and writing, read-only ones only writing") {
  MemoryFileSystem files;
  files.seed("/secret/file", "x");
  files.seed("/secrets", "x");
  files.seed("/disk/file", "x");
  files.deny_access("/secret");
  files.deny_writing("/disk");
  CHECK(files.read_file("/secret/file").error().code() == ErrorCode::permission_denied);
  CHECK(files.read_file("/secrets"));
  CHECK(files.read_file("/disk/file"));
  CHECK(files.write_file_atomic("/disk/file", "y").error().code() == ErrorCode::permission_denied);
  CHECK(files.make_directories("/disk/new").error().code() == ErrorCode::permission_denied);
  CHECK_FALSE(files.is_writable("/disk"));
}

TEST_CASE("writes fail on demand, as often as asked") {
  MemoryFileSystem files;
  files.fail_next_writes(2, Error(ErrorCode::unavailable, "input/output error"));
  CHECK(files.append("/log", "x").error().message() == "/log: input/output error");
  CHECK_FALSE(files.write_file_atomic("/log", "x"));
  CHECK(files.write_file_atomic("/log", "x"));
}
