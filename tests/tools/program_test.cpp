#include <doctest/doctest.h>

#include <algorithm>

#include "tests/tools/cli_fixture.hpp"
#include "tools/version.hpp"

namespace tandem::tools {
namespace {

const std::vector<std::vector<std::string>> kCommands = {{"tune"},    {"trials"}, {"best"},         {"export"},
                                                         {"asktell"}, {"doctor"}, {"data", "list"}, {"data", "get"},
                                                         {"init"},    {"version"}};

TEST_CASE_FIXTURE(CliFixture, "every command has help with an example on stdout") {
  for (auto command : kCommands) {
    CAPTURE(command.front());
    command.push_back("--help");
    const CliRun ran = run(command);
    CHECK(ran.exit_code == 0);
    CHECK(ran.err.empty());
    CHECK(ran.out.find("Example:\n  ") != std::string::npos);
    CHECK(ran.out.find("tandem " + command.front()) != std::string::npos);
    CHECK(ran.out.find("--json") != std::string::npos);
  }
  CHECK(run({"--help"}).exit_code == 0);
}

TEST_CASE_FIXTURE(CliFixture, "bad usage is one error on stderr, a hint, and exit code 2") {
  struct Case {
    std::vector<std::string> arguments;
    std::string says;
  };
  const std::vector<Case> cases = {{{}, "subcommand"},
                                   {{"tuen", "x.toml"}, "unknown command 'tuen'; did you mean 'tune'?"},
                                   {{"frobnicate"}, "allowed: "},
                                   {{"data", "lst"}, "did you mean 'list'?"},
                                   {{"trials"}, "STUDY"},
                                   {{"trials", "a", "b"}, "unknown argument 'b'"},
                                   {{"trials", "a", "--jsn"}, "unknown option '--jsn'; did you mean '--json'?"},
                                   {{"export", "a"}, "--format"},
                                   {{"export", "a", "--format", "xml"}, "csv"},
                                   {{"tune"}, "STUDY.toml"},
                                   {{"tune", "a.toml", "--seed", "x"}, "--seed"},
                                   {{"tune", "a.toml", "--seed", "-1"}, "--seed"},
                                   {{"tune", "a.toml", "--seed", "18446744073709551616"}, "--seed"},
                                   {{"tune", "a.toml", "--seed", "1.5"}, "--seed"},
                                   {{"tune", "a.toml", "--resume", "--fresh"}, "--fresh"},
                                   {{"tune", "/absent.toml"}, "/absent.toml"},
                                   {{"data", "get", "mnits"}, "allowed: digits"}};
  for (const auto& one : cases) {
    CAPTURE(one.says);
    const CliRun ran = run(one.arguments);
    CAPTURE(ran.err);
    CHECK(ran.exit_code == 2);
    CHECK(ran.out.empty());
    CHECK(ran.err.find(one.says) != std::string::npos);
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') <= 2);
  }
}

TEST_CASE_FIXTURE(CliFixture, "version names the version, in JSON too") {
  CHECK(run({"version"}).out == "tandem " + std::string(kVersion) + "\n");
  CHECK(run({"version", "--json"}).json_lines().at(0)["version"] == kVersion);
}

TEST_CASE_FIXTURE(CliFixture, "without a home and a state directory the error says what to give") {
  environment.clear();
  const CliRun ran = run({"trials", "x"});
  CHECK(ran.exit_code == 2);
  CHECK(ran.err.find("--state") != std::string::npos);
}

TEST_CASE_FIXTURE(CliFixture, "doctor names each finding with its state, one JSON line each") {
  const CliRun ran = run({"doctor", "--json"});
  CHECK(ran.exit_code == 0);
  const auto findings = ran.json_lines();
  CHECK(findings.size() > 5);
  for (const auto& finding : findings) {
    const auto state = finding["state"].get<std::string>();
    CHECK((state == "ok" || state == "degraded" || state == "missing"));
    CHECK(finding["name"].get<std::string>() != "");
  }
}

TEST_CASE_FIXTURE(CliFixture, "data list names the data sets and says how to get what is missing") {
  const CliRun ran = run({"data", "list"});
  CHECK(ran.exit_code == 0);
  CHECK(ran.out.find("digits") != std::string::npos);
  CHECK(ran.out.find("tandem data get mnist") != std::string::npos);
  CHECK(run({"data", "list", "--json"}).json_lines().size() >= 3);
}

}  // namespace
}  // namespace tandem::tools
