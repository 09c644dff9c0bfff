#include <doctest/doctest.h>

#include <algorithm>

#include "tests/tools/cli_fixture.hpp"

namespace tandem::tools {
namespace {

using nlohmann::json;

struct Stored : CliFixture {
  Stored() {
    files.seed("/s.toml", kPlainStudy);
    const CliRun ran =
        run({"asktell", "/s.toml"},
            "{\"enqueue\":{\"params\":{\"x\":0.5,\"batch_size\":32}}}\n{\"ask\":2}\n"
            "{\"tell\":{\"trial\":0,\"step\":1,\"values\":{\"accuracy\":0.5,\"loss\":2},\"seconds\":1.5}}\n"
            "{\"tell\":{\"trial\":0,\"step\":3,\"values\":{\"accuracy\":0.75}}}\n");
    REQUIRE(ran.exit_code == 0);
  }
};

TEST_CASE_FIXTURE(Stored, "trials gives one JSON line per trial with every field of the contract") {
  const auto lines = run({"trials", "plain", "--json"}).json_lines();
  REQUIRE(lines.size() == 2);
  for (const auto& line : lines) {
    for (const char* field :
         {"trial", "state", "params", "system", "reports", "stages", "attempts", "worker", "error"}) {
      CAPTURE(std::string(field));
      CHECK(line.contains(field));
    }
  }
  CHECK(lines[0]["state"] == "completed");
  CHECK(lines[0]["params"] == json({{"x", 0.5}, {"batch_size", 32}}));
  CHECK(lines[0]["reports"][0] ==
        json({{"step", 1}, {"values", {{"accuracy", 0.5}, {"loss", 2.0}}}, {"seconds", 1.5}}));
  CHECK(lines[0]["attempts"] == 1);
  CHECK(lines[1]["state"] == "running");
}

TEST_CASE_FIXTURE(Stored, "a study is found by its file too") {
  CHECK(run({"trials", "/s.toml", "--json"}).out == run({"trials", "plain", "--json"}).out);
}

TEST_CASE_FIXTURE(Stored, "a table for people has a row per trial") {
  const CliRun ran = run({"trials", "plain"});
  CHECK(std::count(ran.out.begin(), ran.out.end(), '\n') == 3);
  CHECK(ran.out.find("completed") != std::string::npos);
  CHECK(ran.out.find("batch_size=32") != std::string::npos);
}

TEST_CASE_FIXTURE(Stored, "best names trial, step, objectives, params and system") {
  const auto best = run({"best", "plain", "--json"}).json_lines().at(0);
  CHECK(best["trial"] == 0);
  CHECK(best["step"] == 3);
  CHECK(best["objectives"] == json({{"accuracy", 0.75}}));
  CHECK(best["params"] == json({{"x", 0.5}, {"batch_size", 32}}));
  CHECK(best["system"].is_object());
  CHECK(run({"best", "plain"}).out.find("trial 0 after 3 epochs") != std::string::npos);
}

TEST_CASE_FIXTURE(Stored, "CSV has one row per report and a column per name") {
  const CliRun ran = run({"export", "plain", "--format", "csv"});
  CHECK(ran.out ==
        "trial,state,step,seconds,energy_joules,value.accuracy,value.loss,param.batch_size,param.x\r\n"
        "0,completed,1,1.5,0.0,0.5,2.0,32,0.5\r\n"
        "0,completed,3,0.0,0.0,0.75,,32,0.5\r\n");
}

TEST_CASE_FIXTURE(Stored, "JSON export is the whole study in one document") {
  const auto document = run({"export", "plain", "--format", "json"}).json_lines().at(0);
  CHECK(document["study"] == "plain");
  CHECK(document["state"] == "running");
  CHECK(document["seed"] == 7);
  CHECK(document["trials"].size() == 2);
  const json& summary = document["summary"];
  CHECK(summary["trials"] == json({{"total", 2}, {"completed", 1}, {"stopped", 0}, {"failed", 0}}));
  CHECK(summary["total_training_seconds"] == 1.5);
  for (const char* field : {"steps", "share", "excess_seconds", "excess_share", "hits", "misses"}) {
    CHECK(summary["probe"].contains(field));
  }
}

TEST_CASE_FIXTURE(Stored, "an unknown study lists those there are, exit code 3") {
  for (const auto& command : std::vector<std::vector<std::string>>{
           {"trials", "plian"}, {"best", "plian"}, {"export", "plian", "--format", "csv"}}) {
    const CliRun ran = run(command);
    CHECK(ran.exit_code == 3);
    CHECK(ran.out.empty());
    CHECK(ran.err.find("there are: plain") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(CliFixture, "looking creates no state directory") {
  const CliRun ran = run({"trials", "plain"});
  CHECK(ran.exit_code == 3);
  CHECK_FALSE(std::filesystem::exists(directory() + "/state"));
}

TEST_CASE_FIXTURE(CliFixture, "a malformed study file is refused with its line, exit code 2") {
  files.seed("/bad.toml", "[study]\nname = \"x\"\nobjektives = [\"a:max\"]\n[space]\nx = { low = 0.0, high = 1.0 }\n");
  const CliRun ran = run({"trials", "/bad.toml"});
  CHECK(ran.exit_code == 2);
  CHECK(ran.err.find("/bad.toml:3") != std::string::npos);
  CHECK(ran.err.find("objectives") != std::string::npos);
}

}  // namespace
}  // namespace tandem::tools
