#include <doctest/doctest.h>

#include "tuner/study/study_spec.hpp"

using namespace tandem;
using namespace tandem::tuner;

namespace {

constexpr auto kComplete = R"([study]
name = "lenet5-mnist"
objectives = ["accuracy:max", "training_seconds:min"]
max_trials = 27
max_parallel = 2
seed = 1

[trial]
workload = "lenet5"
dataset  = "mnist"
epochs   = 9
memory   = "1.5G"

[space]
batch_size    = { choice = [32, 64, 256, 1024] }
learning_rate = { low = 1e-3, high = 1e-1, log = true }
dropout       = { low = 0.0, high = 0.5 }
hidden        = { low = 64, high = 256, step = 32, type = "int" }
momentum      = { low = 0.0, high = 0.99, when = { optimizer = "sgd" } }
optimizer     = { choice = ["sgd", "adam"] }

[search]
algorithm = "random"

[schedule]
algorithm = "asha"
reduction_factor = 4
min_epochs = 2
variant = "promotion"

[system]
mode  = "search"
defaults = "framework"
objective = "energy"
probe_budget = 0.1
cores = [1, 2]
threads = 2
replicas = [1, 2]
micro_batch = [0, 128]
allocator = ["default", "retain"]
)";

constexpr auto kSmall = R"([study]
name = "small"
objectives = ["accuracy:max"]
[trial]
workload = "mlp"
dataset = "digits"
[space]
learning_rate = { low = 0.01, high = 0.1, log = true }
)";

}  // namespace

TEST_CASE("every key of a study file is read") {
  const auto parsed = parse_study(kComplete, "lenet5.toml");
  if (!parsed) FAIL(parsed.error().message());
  const StudySpec& spec = *parsed;
  CHECK(spec.name == "lenet5-mnist");
  REQUIRE(spec.objectives.size() == 2);
  CHECK(spec.objectives[0].name == "accuracy");
  CHECK(spec.objectives[0].maximize);
  CHECK_FALSE(spec.objectives[1].maximize);
  CHECK(spec.max_trials == 27);
  CHECK(spec.max_parallel == 2);
  CHECK(spec.seed == 1u);
  CHECK(spec.trial.workload == "lenet5");
  CHECK(spec.trial.dataset == "mnist");
  CHECK(spec.trial.epochs == 9);
  CHECK(spec.trial.memory_bytes == std::int64_t{3} << 29);
  CHECK(spec.schedule.algorithm == "asha");
  CHECK(spec.schedule.reduction_factor == 4);
  CHECK(spec.schedule.min_epochs == 2);
  CHECK(spec.schedule.promotion);
  CHECK(spec.system.mode == SystemMode::search);
  CHECK(spec.system.defaults == SystemDefaults::framework);
  CHECK(spec.system.objective == SystemObjective::energy);
  CHECK(spec.system.probe_budget == 0.1);
  CHECK(spec.system.values.at("threads") == std::vector<Value>{std::int64_t{2}});
  CHECK(spec.system.values.at("allocator") == std::vector<Value>{std::string("default"), std::string("retain")});
  CHECK(spec.source == kComplete);

  REQUIRE(spec.space.parameters().size() == 6);
  const auto& rate = std::get<FloatDomain>(spec.space.find("learning_rate")->domain);
  CHECK(rate.low == 1e-3);
  CHECK(rate.high == 1e-1);
  CHECK(rate.log);
  CHECK(std::get<IntDomain>(spec.space.find("hidden")->domain).step == 32);
  CHECK(std::get<ChoiceDomain>(spec.space.find("batch_size")->domain).choices.size() == 4);
  REQUIRE(spec.space.find("momentum")->when.size() == 1);
  CHECK(spec.space.find("momentum")->when[0].values == std::vector<Value>{std::string("sgd")});
}

TEST_CASE("what a file leaves out has its documented value") {
  const auto spec = parse_study(kSmall, "small.toml");
  REQUIRE(spec);
  CHECK(spec->max_trials == 10);
  CHECK(spec->max_parallel == 0);
  CHECK(!spec->seed);
  CHECK(spec->trial.epochs == 10);
  CHECK(spec->trial.memory_bytes == 0);
  CHECK(spec->search.algorithm == "random");
  CHECK(spec->schedule.algorithm == "none");
  CHECK(spec->system.mode == SystemMode::pipeline);
  CHECK(spec->system.values.empty());
}

TEST_CASE("numbers without a type are integers when all are written so, else floats") {
  const auto spec = parse_study(std::string(kSmall) + R"(a = { low = 1, high = 3 }
b = { low = 0, high = 0.5 }
c = { low = 0, high = 10, type = "float" }
d = { choice = [0, 0.5] }
e = { choice = [true, false] }
)",
                                "types.toml");
  REQUIRE(spec);
  CHECK(std::holds_alternative<IntDomain>(spec->space.find("a")->domain));
  CHECK(std::holds_alternative<FloatDomain>(spec->space.find("b")->domain));
  CHECK(std::holds_alternative<FloatDomain>(spec->space.find("c")->domain));
  CHECK(std::get<ChoiceDomain>(spec->space.find("d")->domain).choices[0] == Value(0.0));
  CHECK(std::get<ChoiceDomain>(spec->space.find("e")->domain).choices[0] == Value(true));
}

TEST_CASE("a byte order mark, CRLF line ends and sub-tables are read") {
  std::string text = "\xEF\xBB\xBF" + std::string(kSmall) + "[space.hidden]\nlow = 8\nhigh = 16\n";
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const auto spec = parse_study(crlf, "dos.toml");
  REQUIRE(spec);
  CHECK(spec->space.find("hidden") != nullptr);
}

TEST_CASE("overrides change values, add keys and tables, and take bare words as strings") {
  const auto spec = parse_study(
      kSmall, "small.toml",
      {"study.max_trials=3", "schedule.algorithm=asha", "system.cores=[1, 2]", "space.learning_rate.high = 0.5",
       "space.hidden={ low = 8, high = 16 }", "study.name=other", "trial.dataset='mnist'"});
  if (!spec) FAIL(spec.error().message());
  CHECK(spec->max_trials == 3);
  CHECK(spec->schedule.algorithm == "asha");
  CHECK(spec->system.values.at("cores").size() == 2);
  CHECK(std::get<FloatDomain>(spec->space.find("learning_rate")->domain).high == 0.5);
  CHECK(spec->space.find("hidden") != nullptr);
  CHECK(spec->name == "other");
  CHECK(spec->trial.dataset == "mnist");
}

TEST_CASE("the kept source has the overrides in it and reads back as the same study") {
  const auto spec = parse_study(kComplete, "lenet5.toml", {"space.learning_rate.high=0.1234567890123456789"});
  REQUIRE(spec);
  const auto again = parse_study(spec->source, "stored");
  if (!again) FAIL(again.error().message());
  CHECK(std::get<FloatDomain>(again->space.find("learning_rate")->domain).high == 0.1234567890123456789);
  CHECK(again->space.parameters().size() == 6);
  CHECK(again->space.find("momentum")->when.size() == 1);
  CHECK(again->objectives.size() == 2);
  CHECK(again->system.values == spec->system.values);
  CHECK(again->schedule.promotion);
}

TEST_CASE("ask-and-tell studies need no workload, simulated ones no space either") {
  constexpr auto kBare = "[study]\nname = \"bare\"\nobjectives = [\"loss:min\"]\n";
  CHECK(!parse_study(kBare, "bare.toml"));
  CHECK(!parse_study(kBare, "bare.toml", {}, StudyUse::asktell));
  const auto simulated = parse_study(kBare, "bare.toml", {}, StudyUse::simulate);
  REQUIRE(simulated);
  CHECK(simulated->space.empty());
  CHECK(simulated->trial.epochs == 1);
  const std::string asked = std::string(kBare) + "[trial]\nepochs = 4\n[space]\nx = { low = 0.0, high = 1.0 }\n";
  CHECK(!parse_study(asked, "bare.toml"));
  const auto spec = parse_study(asked, "bare.toml", {}, StudyUse::asktell);
  REQUIRE(spec);
  CHECK(spec->trial.epochs == 4);
  const auto command =
      parse_study(asked, "bare.toml", {"trial.command=[\"python3\", \"train.py\"]"}, StudyUse::asktell);
  REQUIRE(command);
  CHECK(command->trial.command.size() == 2);
}
