/// Malformed study files: each is one clear error that names the place, the key and what is allowed.
#include <doctest/doctest.h>

#include "tuner/limits.hpp"
#include "tuner/study/study_spec.hpp"

using namespace tandem;
using namespace tandem::tuner;

namespace {

/// A valid file with one line replaced; lines count from 1.
std::string with_line(int number, std::string_view replacement) {
  static const std::vector<std::string> kLines{
      "[study]",                                                 // 1
      "name = \"small\"",                                        // 2
      "objectives = [\"accuracy:max\"]",                         // 3
      "max_trials = 5",                                          // 4
      "[trial]",                                                 // 5
      "workload = \"mlp\"",                                      // 6
      "dataset = \"digits\"",                                    // 7
      "epochs = 9",                                              // 8
      "[space]",                                                 // 9
      "learning_rate = { low = 0.01, high = 0.1, log = true }",  // 10
      "optimizer = { choice = [\"sgd\", \"adam\"] }",            // 11
      "[search]",                                                // 12
      "algorithm = \"random\"",                                  // 13
      "[schedule]",                                              // 14
      "algorithm = \"asha\"",                                    // 15
      "reduction_factor = 3",                                    // 16
      "[system]",                                                // 17
      "mode = \"fixed\"",                                        // 18
  };
  std::string text;
  for (std::size_t i = 0; i < kLines.size(); ++i) {
    text += i + 1 == static_cast<std::size_t>(number) ? std::string(replacement) : kLines[i];
    text += '\n';
  }
  return text;
}

std::string refusal(std::string_view text, const std::vector<std::string>& overrides = {}) {
  const auto spec = parse_study(text, "s.toml", overrides);
  if (spec) return "accepted";
  CHECK(spec.error().code() == ErrorCode::invalid_argument);
  return spec.error().message();
}

struct Case {
  int line;
  std::string_view text;
  std::string_view expected;  ///< after "s.toml:LINE: "
};

constexpr Case kCases[] = {
    // TOML itself
    {2, "name = \"small", "not valid TOML"},
    {2, "name = \"sm\xff\"", "not valid TOML"},
    {4, "max_trials = 1e400", "not valid TOML"},
    {4, "max_trials = 99999999999999999999", "not valid TOML"},
    {4, "max_trials =", "not valid TOML"},
    {4, "name = \"again\"", "not valid TOML"},
    // tables and keys
    {12, "[serch]",
     "serch = { algorithm = \"random\" }: unknown table; did you mean search? allowed tables: study, trial, space"},
    {4, "max_trails = 5", "[study] max_trails = 5: unknown key; did you mean max_trials? allowed: name, objectives"},
    {16, "reduction_facter = 3", "[schedule] reduction_facter = 3: unknown key; did you mean reduction_factor?"},
    {18, "coers = [1, 2]", "[system] coers = [1, 2]: unknown key; did you mean cores?"},
    {10, "learning_rate = { low = 0.01, hihg = 0.1 }",
     "[space.learning_rate] hihg = 0.1: unknown key; did you mean high?"},
    // [study]
    {2, "", "[study]: name is missing"},
    {2, "name = 3", "[study] name = 3: must be a string"},
    {2, "name = \"\"", "[study] name = \"\": must not be empty"},
    {2, "name = \"../x\"", "[study] name = \"../x\": allowed: letters, digits"},
    {2, "name = \"a b\"", "[study] name = \"a b\": allowed: letters, digits"},
    {3, "", "[study]: objectives is missing"},
    {3, "objectives = []", "[study] objectives = []: must not be empty"},
    {3, "objectives = \"accuracy:max\"", "[study] objectives = \"accuracy:max\": must be a list of strings"},
    {3, "objectives = [\"accuracy\"]", "\"accuracy\" names no direction; allowed: \"NAME:max\" or \"NAME:min\""},
    {3, "objectives = [\"accuracy:up\"]", "\"accuracy:up\" names no direction"},
    {3, "objectives = [\":max\"]", "\"\" is not a name"},
    {3, "objectives = [\"a:max\", \"a:min\"]", "\"a\" is named twice"},
    {3, "objectives = [3]", "must be a list of strings, but has 3"},
    {4, "max_trials = 0", "[study] max_trials = 0: must be at least 1"},
    {4, "max_trials = -3", "[study] max_trials = -3: must be at least 1"},
    {4, "max_trials = 2.5", "[study] max_trials = 2.5: must be an integer from 1"},
    {4, "max_trials = \"5\"", "[study] max_trials = \"5\": must be an integer"},
    {4, "max_trials = 10_000_000_000", "[study] max_trials = 10000000000: must be at most"},
    {4, "max_parallel = -1", "[study] max_parallel = -1: must be at least 0"},
    {4, "seed = -1", "[study] seed = -1: must be an integer of at least 0"},
    {4, "seed = 1979-05-27", "[study] seed = a date or time: must be an integer"},
    // [trial]
    {6, "", "[trial]: workload is missing"},
    {7, "", "[trial]: dataset is missing"},
    {8, "epochs = -1", "[trial] epochs = -1: must be at least 1"},
    {8, "epochs = 0", "[trial] epochs = 0: must be at least 1"},
    {8, "epochs = nan", "[trial] epochs = nan: must be an integer"},
    {8, "memory = \"512MB\"", "[trial] memory = \"512MB\": '512MB' is not a size; allowed: a number of bytes, or"},
    {8, "memory = 1.5", "[trial] memory = 1.5: must be a size such as \"512M\""},
    {8, "memory = 1048576", "[trial] memory = 1048576: must be at least 64.0 MiB"},
    {8, "memory = \"-1G\"", "[trial] memory = \"-1G\": '-1G' is not a size"},
    {8, "memory = \"\"", "[trial] memory = \"\": '' is not a size"},
    {8, "command = [\"true\"]", "[trial] command = [\"true\"]: does not go with workload and dataset"},
    // [space]
    {10, "learning_rate = 0.1", "[space] learning_rate = 0.1: must be a table; allowed: { low = …"},
    {10, "learning_rate = {}", "[space] learning_rate = {}: low is missing"},
    {10, "learning_rate = { low = 0.1 }", "[space] learning_rate = { low = 0.1 }: high is missing"},
    {10, "learning_rate = { low = 0.1, high = 0.01 }",
     "[space] learning_rate = { high = 0.01, low = 0.1 }: low must be less than high"},
    {10, "learning_rate = { low = 0.1, high = 0.1 }", "low must be less than high"},
    {10, "learning_rate = { low = 0.0, high = 0.1, log = true }", "a log range needs low > 0"},
    {10, "learning_rate = { low = \"0\", high = 0.1 }", "[space.learning_rate] low = \"0\": must be a number"},
    {10, "learning_rate = { low = 0.0, high = inf }", "low and high must be finite"},
    {10, "learning_rate = { low = 0.0, high = nan }", "low and high must be finite"},
    {10, "learning_rate = { low = 0.0, high = 1.0, step = 0.0 }",
     "[space.learning_rate] step = 0.0: must be greater than 0"},
    {10, "learning_rate = { low = 0.0, high = 1.0, step = -0.1 }", "step must be greater than 0"},
    {10, "learning_rate = { low = 0.0, high = 1.0, step = 2.0 }", "step must be at most high - low"},
    {10, "learning_rate = { low = 0.0, high = 1.0, log = \"yes\" }", "log = \"yes\": must be true or false"},
    {10, "learning_rate = { low = 0, high = 1, type = \"integer\" }",
     "type = \"integer\": not known; allowed: float, int"},
    {10, "learning_rate = { low = 0, high = 1.5, type = \"int\" }", "high = 1.5: must be an integer"},
    {10, "learning_rate = { choice = [] }", "choice = []: must name at least one value"},
    {10, "learning_rate = { choice = 3 }", "choice = 3: must be a list"},
    {10, "learning_rate = { choice = [1, \"a\"] }", "choice mixes integer and string"},
    {10, "learning_rate = { choice = [1, 1] }", "choice names 1 twice"},
    {10, "learning_rate = { choice = [[1]] }", "must be a list of booleans, numbers or strings, but has [1]"},
    {10, "learning_rate = { choice = [nan] }", "choice = [nan]: numbers must be finite"},
    {10, "learning_rate = { choice = [1], low = 0 }", "low = 0: does not go with choice"},
    {10, "momentum = { low = 0.0, high = 0.9, when = { optimiser = \"sgd\" } }",
     "when names optimiser, which is not in the space"},
    {10, "momentum = { low = 0.0, high = 0.9, when = { optimizer = \"lion\" } }",
     "\"lion\" is not allowed; allowed: one of \"sgd\", \"adam\""},
    {10, "momentum = { low = 0.0, high = 0.9, when = { momentum = 0.5 } }", "when leads in a circle"},
    {10, "momentum = { low = 0.0, high = 0.9, when = {} }", "must name a parameter"},
    {10, "momentum = { low = 0.0, high = 0.9, when = \"sgd\" }", "must be a table"},
    {10, "epochs = { low = 1, high = 9 }", "searching the number of epochs is not supported yet"},
    {10, "cores = { choice = [1, 2] }", "is a system parameter; name its values in [system]"},
    {10, "\"learning rate\" = { low = 0.0, high = 1.0 }", "not a parameter's name"},
    // [search], [schedule]
    {13, "algorithm = \"tpe\"", "[search] algorithm = \"tpe\": comes with a later version; available: random, grid"},
    {13, "algorithm = \"randon\"",
     "[search] algorithm = \"randon\": not known; did you mean random? available: random, grid"},
    {13, "algorithm = \"grid\"", "a grid needs a step or a choice for every parameter, but learning_rate is a float"},
    {13, "plugin = \"./x.so\"", "[search] plugin = \"./x.so\": plugins come with a later version"},
    {15, "algorithm = \"hyperband\"",
     "[schedule] algorithm = \"hyperband\": comes with a later version; available: none, asha"},
    {16, "reduction_factor = 1", "[schedule] reduction_factor = 1: must be at least 2"},
    {16, "min_epochs = 0", "[schedule] min_epochs = 0: must be at least 1"},
    {16, "min_epochs = 10", "[schedule] min_epochs = 10: must be at most [trial] epochs = 9"},
    {16, "variant = \"promoting\"",
     "variant = \"promoting\": not known; did you mean promotion? allowed: stopping, promotion"},
    // [system]
    {18, "mode = \"auto\"", "[system] mode = \"auto\": not known; allowed: fixed, search, pipeline"},
    {18, "defaults = true", "[system] defaults = true: must be a string"},
    {18, "defaults = \"framework\"", "[system] defaults = \"framework\": framework leaves the framework untouched"},
    {18, "objective = \"power\"", "objective = \"power\": not known"},
    {18, "probe_budget = 2", "[system] probe_budget = 2: must be a number from 0 to 1"},
    {18, "cores = []", "[system] cores = []: must name at least one value"},
    {18, "cores = [1, \"two\"]", "mixes integer and string"},
    {18, "cores = { low = 1, high = 2 }", "must be a boolean, a number, a string, or a list of such"},
};

}  // namespace

TEST_CASE("the file that the cases alter is itself valid") { CHECK(refusal(with_line(0, "")) == "accepted"); }

TEST_CASE("each malformed study file is refused with its line and the reason") {
  for (const Case& c : kCases) {
    CAPTURE(std::string(c.text));
    const std::string message = refusal(with_line(c.line, c.text));
    CAPTURE(message);
    // A missing key is told of its table; a table's own line is that of its header.
    const bool missing = c.expected.find(" is missing") != std::string_view::npos && c.text.empty();
    const int line = !missing ? c.line : c.line <= 4 ? 1 : 5;
    CHECK(message.find(fmt::format("s.toml:{}: ", line)) == 0);
    CHECK(message.find(c.expected) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("missing tables, stray keys and files that are no study are refused") {
  CHECK(refusal("") == "s.toml:1: [study]: this table is missing");
  CHECK(refusal("study = 3\n").find("s.toml:1: study = 3: must be a table") == 0);
  CHECK(refusal("name = \"x\"\n").find("s.toml:1: name = \"x\": unknown key") == 0);
  CHECK(refusal(std::string_view("\0\0\0", 3)).find("s.toml:1: not valid TOML") == 0);
  CHECK(refusal("\xff\xfe[\0s\0").find("not valid TOML") != std::string::npos);
  CHECK(refusal(with_line(9, "[space]\n[space.x]")).find("s.toml:") == 0);
  const std::string huge(limits::kMaxStudyFileBytes + 1, '#');
  CHECK(refusal(huge).find("s.toml:1: the file has 1048577 bytes; at most 1048576 are allowed") == 0);
  const std::string deep = "x = " + std::string(100'000, '[');
  CHECK(refusal(deep).find("s.toml:1: not valid TOML") == 0);
}

TEST_CASE("a command alone is refused, since this version cannot run it") {
  const std::string text =
      "[study]\nname = \"c\"\nobjectives = [\"a:max\"]\n[trial]\ncommand = [\"true\"]\n[space]\nx = { choice = [1] }\n";
  CHECK(refusal(text) ==
        "s.toml:5: [trial] command = [\"true\"]: command trials come with a later version; allowed: workload and "
        "dataset");
}

TEST_CASE("a key of too many parts is refused before it nests as deep") {
  std::string key;
  for (int part = 0; part < 100'000; ++part) key += "a.";
  for (const std::string& text : {key + "b = 1", "[" + key + "b]", "[study]\nx = { " + key + "b = 1 }"}) {
    const auto parsed = parse_study(text, "s.toml", {}, StudyUse::tune);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().message().find("a key of more than") != std::string::npos);
  }
}

TEST_CASE("dots in a comment, in a string or in a list of numbers are no key") {
  const std::string dots(100, '.');
  std::string text = with_line(0, "# don't count" + dots);
  text += "\n# " + dots + "\n";
  CHECK(refusal(text) == "accepted");
}

TEST_CASE("a long name is refused") {
  CHECK(refusal(with_line(2, "name = \"" + std::string(101, 'a') + "\"")).find("at most 100") != std::string::npos);
  CHECK(refusal(with_line(2, "name = \"" + std::string(100, 'a') + "\"")) == "accepted");
}

TEST_CASE("errors of an override name the override") {
  const std::string valid = with_line(0, "");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"schedule.reduction_factor=1",
       "--set schedule.reduction_factor=1: [schedule] reduction_factor = 1: must be at least 2"},
      {"search.algorithm=tpe", "--set search.algorithm=tpe: [search] algorithm = \"tpe\": comes with a later version"},
      {"study.max_trails=3", "--set study.max_trails=3: [study] max_trails = 3: unknown key; did you mean max_trials?"},
      {"space.learning_rate.high=0.001", "(with --set space.learning_rate.high=0.001): [space] learning_rate"},
      {"max_trials=3", "--set max_trials=3: \"max_trials\" is not table.key"},
      {"study.max_trials", "must be table.key=value"},
      {"study.max_trials=", "the value is missing"},
      {"study..x=1", "is not table.key"},
      {"system.cores=[1, 2", "the value is not valid TOML"},
      {"study.name.first=1", "name is not a table"},
      {"study.name=a\nseed = 3", "[study] name"},
      {"study.name=\"a\"\nseed = 3", "[study] name"},
      {"sutdy.name=a", "--set sutdy.name=a: sutdy = { name = \"a\" }: unknown table"},
  };
  for (const auto& [override_text, words] : cases) {
    CAPTURE(override_text);
    const std::string message = refusal(valid, {override_text});
    CAPTURE(message);
    CHECK(message.find(words) != std::string::npos);
  }
}
