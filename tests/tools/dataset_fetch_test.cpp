#include "tools/cli/dataset_fetch.hpp"

#include <doctest/doctest.h>

#include "tests/tools/cli_fixture.hpp"
#include "tools/cli/sha256.hpp"

namespace tandem::tools {
namespace {

struct Fetch : CliFixture {
  Fetch() {
    dataset.name = "letters";
    dataset.files = {{"a-ubyte", 5, sha256_hex("hello")}, {"b-ubyte", 3, sha256_hex("bye")}};
  }

  Result<> copy(Checksums checksums = Checksums::verified) {
    std::istringstream in;
    std::ostringstream out;
    Surroundings surroundings{in, out, out, files, launcher, clock, environment, "/bin/tandem", false};
    return copy_dataset(dataset, "/from", "/data", checksums, surroundings);
  }

  actors::DatasetInfo dataset;
};

TEST_CASE("the checksum is SHA-256") {
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE_FIXTURE(Fetch, "files are found below the folder and copied under the set's name") {
  files.seed("/from/deep/er/a-ubyte", "hello");
  files.seed("/from/b-ubyte", "bye");
  REQUIRE(copy().has_value());
  CHECK(*files.read_file("/data/letters/a-ubyte") == "hello");
  CHECK(*files.read_file("/data/letters/b-ubyte") == "bye");
}

TEST_CASE_FIXTURE(Fetch, "of files with the same name the one with the right checksum is taken") {
  files.seed("/from/fashion/a-ubyte", "jello");
  files.seed("/from/letters/a-ubyte", "hello");
  files.seed("/from/letters/b-ubyte", "bye");
  REQUIRE(copy().has_value());
  CHECK(*files.read_file("/data/letters/a-ubyte") == "hello");
}

TEST_CASE_FIXTURE(Fetch, "a missing, cut or altered file is named and nothing is copied") {
  files.seed("/from/a-ubyte", "hello");
  CHECK(copy().error().message().find("b-ubyte") != std::string::npos);
  files.seed("/from/b-ubyte", "by");
  CHECK(copy().error().message().find("2 bytes unpacked instead of 3") != std::string::npos);
  files.seed("/from/b-ubyte", "bya");
  CHECK(copy().error().message().find("checksum") != std::string::npos);
  CHECK(copy().error().code() == ErrorCode::invalid_argument);
  CHECK_FALSE(files.exists("/data/letters/a-ubyte"));
}

TEST_CASE_FIXTURE(Fetch, "an unknown checksum is taken on request, a wrong size never") {
  files.seed("/from/a-ubyte", "hello");
  files.seed("/from/b-ubyte", "bya");
  CHECK(copy(Checksums::ignored).has_value());
  files.seed("/from/b-ubyte", "by");
  CHECK_FALSE(copy(Checksums::ignored).has_value());
}

TEST_CASE_FIXTURE(CliFixture, "without npm the error says how to go on by hand") {
  environment["TANDEM_DATA"] = directory() + "/data";
  PosixFileSystem disk;
  std::istringstream in;
  std::ostringstream out;
  struct NoPrograms : ProcessLauncher {
    Result<std::unique_ptr<Process>> spawn(const ProcessSpec& spec) override {
      return fail(ErrorCode::not_found, "{}: no such program", spec.argv.front());
    }
  } none;
  Surroundings surroundings{in, out, out, disk, none, clock, environment, "/bin/tandem", false};
  const auto fetched = download_dataset(*actors::find_dataset("mnist"), directory() + "/data", surroundings);
  REQUIRE_FALSE(fetched.has_value());
  CHECK(fetched.error().message().find("npm") != std::string::npos);
  CHECK(fetched.error().message().find("tandem data get mnist --from") != std::string::npos);
  CHECK(std::filesystem::is_empty(directory() + "/data"));
}

}  // namespace
}  // namespace tandem::tools
