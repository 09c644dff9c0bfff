#include <doctest/doctest.h>

#include <algorithm>

#include "tests/tools/cli_fixture.hpp"
#include "tools/limits.hpp"

namespace tandem::tools {
namespace {

using nlohmann::json;

struct AskTell : CliFixture {
  AskTell() { files.seed("/s.toml", kPlainStudy); }

  std::vector<json> talk(const std::string& input, std::vector<std::string> options = {}) {
    std::vector<std::string> arguments = {"asktell", "/s.toml"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const CliRun ran = run(arguments, input);
    CAPTURE(ran.err);
    REQUIRE(ran.exit_code == 0);
    return ran.json_lines();
  }

  /// The answer of a fresh study to one line.
  json answer_to(const std::string& line) { return talk("{\"ask\":1}\n" + line + "\n", {"--fresh"}).at(1); }
};

TEST_CASE_FIXTURE(AskTell, "ask gives trials with their params, numbered in order") {
  const auto answers = talk("{\"ask\":2}\n{\"ask\":1}\n");
  REQUIRE(answers.size() == 2);
  const json& trials = answers[0]["trials"];
  REQUIRE(trials.size() == 2);
  CHECK(trials[0]["trial"] == 0);
  CHECK(trials[1]["trial"] == 1);
  CHECK(trials[0]["params"]["x"].is_number_float());
  CHECK(trials[0]["params"]["batch_size"].is_number_integer());
  CHECK(trials[0]["system"].is_object());
  CHECK(answers[1]["trials"][0]["trial"] == 2);
}

TEST_CASE_FIXTURE(AskTell, "ask gives fewer when max_trials is reached") {
  const auto answers = talk("{\"ask\":9}\n");
  CHECK(answers[0]["trials"].size() == 4);
  CHECK_FALSE(answers[0].contains("exhausted"));
}

TEST_CASE_FIXTURE(AskTell, "ask says so when a finite space is used up") {
  files.seed("/s.toml",
             "[study]\nname=\"finite\"\nobjectives=[\"a:min\"]\nmax_trials=9\n[space]\nx={choice=[1,2]}\n"
             "[search]\nalgorithm=\"grid\"\n");
  const auto answers = talk("{\"ask\":5}\n");
  CHECK(answers[0]["trials"].size() == 2);
  CHECK(answers[0]["exhausted"] == true);
}

TEST_CASE_FIXTURE(AskTell, "tell is answered with a decision, and stop at the last epoch") {
  const auto answers = talk(
      "{\"ask\":1}\n"
      "{\"tell\":{\"trial\":0,\"step\":1,\"values\":{\"accuracy\":0.5}}}\n"
      "{\"tell\":{\"trial\":0,\"step\":3,\"values\":{\"accuracy\":0.7}}}\n"
      "{\"best\":{}}\n");
  CHECK(answers[1]["trial"] == 0);
  CHECK(answers[1]["decision"] == "continue");
  CHECK(answers[1]["resume"] == json::array());
  CHECK(answers[2]["decision"] == "stop");
  CHECK(answers[3]["ok"] == true);
  CHECK(answers[3]["best"]["trial"] == 0);
  CHECK(answers[3]["best"]["step"] == 3);
  CHECK(answers[3]["best"]["objectives"]["accuracy"] == 0.7);
}

TEST_CASE_FIXTURE(AskTell, "a bad line is answered with an error and the next one is served") {
  struct Case {
    std::string line;
    std::string says;
  };
  const std::vector<Case> cases = {
      {"", "JSON"},
      {"not json", "JSON"},
      {"{\"ask\":1", "JSON"},
      {"[1]", "one key"},
      {"{}", "one key"},
      {"{\"ask\":1,\"tell\":{}}", "one key"},
      {"{\"asks\":1}", "did you mean 'ask'"},
      {"{\"ask\":0}", "from 1 to"},
      {"{\"ask\":-3}", "from 1 to"},
      {"{\"ask\":1.5}", "integer"},
      {"{\"ask\":\"1\"}", "integer"},
      {"{\"ask\":18446744073709551615}", "from 1 to"},
      {"{\"tell\":3}", "object"},
      {"{\"tell\":{\"step\":1,\"values\":{\"accuracy\":1}}}", "'trial' is missing"},
      {"{\"tell\":{\"trial\":0,\"values\":{\"accuracy\":1}}}", "'step' is missing"},
      {"{\"tell\":{\"trial\":0,\"step\":0,\"values\":{\"accuracy\":1}}}", "from 1 to 3"},
      {"{\"tell\":{\"trial\":0,\"step\":4,\"values\":{\"accuracy\":1}}}", "from 1 to 3"},
      {"{\"tell\":{\"trial\":0,\"step\":1}}", "'values'"},
      {"{\"tell\":{\"trial\":0,\"step\":1,\"values\":{\"accuracy\":\"high\"}}}", "accuracy"},
      {"{\"tell\":{\"trial\":0,\"step\":1,\"values\":{\"acuracy\":1}}}", "no \"accuracy\""},
      {"{\"tell\":{\"trial\":0,\"step\":1,\"values\":{\"accuracy\":1},\"extra\":1}}", "unknown key 'extra'"},
      {"{\"tell\":{\"trial\":5,\"step\":1,\"values\":{\"accuracy\":1}}}", "no trial 5"},
      {"{\"finish\":{\"trial\":5,\"values\":{\"accuracy\":1}}}", "no trial 5"},
      {"{\"fail\":{\"trial\":0}}", "'error' must be a string"},
      {"{\"enqueue\":{}}", "'params' is missing"},
      {"{\"enqueue\":{\"params\":{\"x\":2.0,\"batch_size\":32}}}", "x"},
      {"{\"best\":{\"x\":1}}", "unknown key 'x'"}};
  for (const auto& one : cases) {
    CAPTURE(one.line);
    const auto answers = talk(std::string("{\"ask\":1}\n") + one.line + "\n{\"open\":{}}\n", {"--fresh"});
    REQUIRE(answers.size() == 3);
    REQUIRE(answers[1].contains("error"));
    CHECK(answers[1]["error"].get<std::string>().find(one.says) != std::string::npos);
    CHECK(answers[2]["trials"].size() == 1);
    CHECK(answers[2]["trials"][0]["step"] == 0);
  }
}

TEST_CASE_FIXTURE(AskTell, "a line nested too deep is refused and the next one is served") {
  for (const char* bracket : {"[", "{\"a\":"}) {
    std::string deep = "{\"ask\":";
    for (int depth = 0; depth < 100'000; ++depth) deep += bracket;
    const auto answers = talk(deep + "\n{\"open\":{}}\n", {"--fresh"});
    REQUIRE(answers.size() == 2);
    CHECK(answers[0]["error"].get<std::string>().find("nested") != std::string::npos);
    CHECK(answers[1]["ok"] == true);
  }
  // Brackets in a string are no nesting.
  CHECK(answer_to("{\"fail\":{\"trial\":0,\"error\":\"[[[[[[[[[[[[[[[[[[[[[[[[\\\"{{{{\"}}")["ok"] == true);
}

TEST_CASE_FIXTURE(AskTell, "finish without values, of a trial that told nothing, is refused and costs nothing") {
  const auto answers = talk("{\"ask\":1}\n{\"finish\":{\"trial\":0}}\n{\"open\":{}}\n");
  CHECK(answers[1]["error"].get<std::string>().find("'values' is missing") != std::string::npos);
  CHECK(answers[2]["trials"].size() == 1);
}

TEST_CASE_FIXTURE(AskTell, "--fresh keeps the old study when the new one cannot be made") {
  talk("{\"ask\":2}\n");
  files.seed("/s.toml", std::string(kPlainStudy) + "[search]\nalgorithm=\"grid\"\n");  // a range without a step
  CHECK(run({"asktell", "/s.toml", "--fresh"}, "").exit_code == 2);
  files.seed("/s.toml", kPlainStudy);
  CHECK(talk("{\"open\":{}}\n", {"--resume"})[0]["trials"].size() == 2);
}

TEST_CASE_FIXTURE(AskTell, "a line that is too long is refused whole and the next one is served") {
  const auto answers = talk(std::string(limits::kAskTellLineBytes + 10, 'x') + "\n{\"ask\":1}\n");
  REQUIRE(answers.size() == 2);
  CHECK(answers[0]["error"].get<std::string>().find("bytes") != std::string::npos);
  CHECK(answers[1]["trials"].size() == 1);
}

TEST_CASE_FIXTURE(AskTell, "text that is not UTF-8 never breaks the answer") {
  CHECK(answer_to("{\"fail\":{\"trial\":0,\"error\":\"\xff\"}}").contains("error"));
  CHECK(answer_to("{\"\xc3\xa9\":1}")["error"].is_string());
}

TEST_CASE_FIXTURE(AskTell, "non-finite values travel as strings and never win") {
  const auto answers = talk(
      "{\"ask\":2}\n"
      "{\"tell\":{\"trial\":0,\"step\":1,\"values\":{\"accuracy\":\"nan\"}}}\n"
      "{\"best\":{}}\n"
      "{\"tell\":{\"trial\":1,\"step\":1,\"values\":{\"accuracy\":0.1,\"loss\":\"inf\"}}}\n"
      "{\"best\":{}}\n");
  CHECK(answers[1]["decision"] == "continue");
  CHECK(answers[2]["best"].is_null());
  CHECK(answers[4]["best"]["trial"] == 1);
  const auto lines = run({"trials", "plain", "--json"}).json_lines();
  CHECK(lines[0]["reports"][0]["values"]["accuracy"] == "nan");
  CHECK(lines[1]["reports"][0]["values"]["loss"] == "inf");
}

TEST_CASE_FIXTURE(AskTell, "the same report told twice counts once") {
  const std::string tell = "{\"tell\":{\"trial\":0,\"step\":1,\"values\":{\"accuracy\":0.5}}}\n";
  const auto answers = talk("{\"ask\":1}\n" + tell + tell);
  CHECK(answers[2]["decision"] == answers[1]["decision"]);
  CHECK(run({"trials", "plain", "--json"}).json_lines()[0]["reports"].size() == 1);
}

TEST_CASE_FIXTURE(AskTell, "finish and fail end a trial; enqueue is asked next") {
  const auto answers = talk(
      "{\"enqueue\":{\"params\":{\"x\":0.25,\"batch_size\":1024}}}\n{\"ask\":2}\n"
      "{\"finish\":{\"trial\":0,\"values\":{\"accuracy\":0.9}}}\n{\"fail\":{\"trial\":1,\"error\":\"no memory\"}}\n"
      "{\"open\":{}}\n");
  CHECK(answers[0]["ok"] == true);
  CHECK(answers[1]["trials"][0]["params"] == json({{"x", 0.25}, {"batch_size", 1024}}));
  CHECK(answers[2]["ok"] == true);
  CHECK(answers[3]["ok"] == true);
  CHECK(answers[4]["trials"].empty());
  const auto lines = run({"trials", "plain", "--json"}).json_lines();
  CHECK(lines[0]["state"] == "completed");
  CHECK(lines[1]["state"] == "failed");
  CHECK(lines[1]["error"].get<std::string>().find("no memory") != std::string::npos);
}

TEST_CASE_FIXTURE(AskTell, "an unfinished study asks for --resume or --fresh") {
  talk("{\"ask\":1}\n");
  const CliRun refused = run({"asktell", "/s.toml"}, "{\"ask\":1}\n");
  CHECK(refused.exit_code == 2);
  CHECK(refused.out.empty());
  CHECK(refused.err.find("--resume") != std::string::npos);
  CHECK(refused.err.find("--fresh") != std::string::npos);
  CHECK(run({"asktell", "/s.toml", "--resume", "--fresh"}).exit_code == 2);
}

TEST_CASE_FIXTURE(AskTell, "--resume goes on with open trials and the same sequence; --fresh begins again") {
  const auto undisturbed = talk("{\"ask\":4}\n", {"--fresh"})[0]["trials"];
  talk("{\"ask\":2}\n{\"tell\":{\"trial\":0,\"step\":1,\"values\":{\"accuracy\":0.5}}}\n", {"--fresh"});
  const auto answers = talk("{\"open\":{}}\n{\"ask\":2}\n", {"--resume"});
  const json& open = answers[0]["trials"];
  REQUIRE(open.size() == 2);
  CHECK(open[0]["step"] == 1);
  CHECK(open[1]["params"] == undisturbed[1]["params"]);
  CHECK(answers[1]["trials"][0]["trial"] == 2);
  CHECK(answers[1]["trials"][0]["params"] == undisturbed[2]["params"]);
  CHECK(talk("{\"ask\":1}\n", {"--fresh"})[0]["trials"][0]["trial"] == 0);
}

TEST_CASE_FIXTURE(AskTell, "--resume without a study starts one") {
  CHECK(talk("{\"ask\":1}\n", {"--resume"})[0]["trials"].size() == 1);
}

TEST_CASE_FIXTURE(AskTell, "the seed decides what is tried, and --seed overrides the file's") {
  const auto of_file = talk("{\"ask\":1}\n", {"--fresh"});
  CHECK(talk("{\"ask\":1}\n", {"--fresh"}) == of_file);
  CHECK(talk("{\"ask\":1}\n", {"--fresh", "--seed", "7"}) == of_file);
  CHECK(talk("{\"ask\":1}\n", {"--fresh", "--seed", "8"}) != of_file);
}

TEST_CASE_FIXTURE(AskTell, "a study all of whose trials have ended is finished when the client goes") {
  talk("{\"ask\":1}\n{\"tell\":{\"trial\":0,\"step\":3,\"values\":{\"accuracy\":0.5}}}\n",
       {"--set", "study.max_trials=1"});
  const CliRun again = run({"asktell", "/s.toml"});
  CHECK(again.exit_code == 2);
  CHECK(again.err.find("finished") != std::string::npos);
  const auto exported = run({"export", "plain", "--format", "json"}).json_lines();
  CHECK(exported[0]["state"] == "finished");
}

TEST_CASE_FIXTURE(AskTell, "a promoted trial is named in resume and is not handed out again") {
  files.seed("/s.toml", std::string(kPlainStudy) +
                            "[schedule]\nalgorithm = \"asha\"\nvariant = \"promotion\"\nreduction_factor = 2\n");
  const auto answers = talk(
      "{\"ask\":2}\n"
      "{\"tell\":{\"trial\":0,\"step\":1,\"values\":{\"accuracy\":0.5}}}\n"
      "{\"tell\":{\"trial\":1,\"step\":1,\"values\":{\"accuracy\":0.9}}}\n"
      "{\"ask\":1}\n"
      "{\"tell\":{\"trial\":1,\"step\":2,\"values\":{\"accuracy\":0.95}}}\n");
  CHECK(answers[1]["decision"] == "pause");
  CHECK(answers[1]["resume"] == json::array());
  CHECK(answers[2]["decision"] == "pause");
  CHECK(answers[2]["resume"] == json::array({1}));
  CHECK(answers[3]["trials"][0]["trial"] == 2);
  CHECK(answers[4]["decision"] == "pause");
}

TEST_CASE_FIXTURE(AskTell, "a state directory that cannot be written is one clear error") {
  environment["TANDEM_STATE"] = "/proc/nowhere";
  const CliRun refused = run({"asktell", "/s.toml"}, "{\"ask\":1}\n");
  CHECK(refused.exit_code == 1);
  CHECK(refused.err.find("/proc/nowhere") != std::string::npos);
  CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);
}

}  // namespace
}  // namespace tandem::tools
