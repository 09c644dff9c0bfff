#include "actors/workloads/workload_info.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace tandem;
using namespace tandem::actors;

TEST_CASE("the defaults of every workload are complete and allowed") {
  REQUIRE(builtin_workloads().size() == 2);
  for (const auto& workload : builtin_workloads()) {
    CAPTURE(workload.name);
    CHECK(find_workload(workload.name) == &workload);
    const auto params = with_defaults(workload, {});
    CHECK(params.size() == workload.hyperparameters.size());
    CHECK(check_parameters(workload, params));
    for (const auto& each : workload.hyperparameters) CHECK_FALSE(each.allowed.empty());
  }
  CHECK(find_workload("mpl") == nullptr);
}

TEST_CASE("given values stand, and an integer given for a number becomes one") {
  const auto params = with_defaults(*find_workload("mlp"), {{"learning_rate", std::int64_t{1}}, {"optimizer", "adam"}});
  CHECK(params.at("learning_rate") == tuner::Value(1.0));
  CHECK(params.at("optimizer") == tuner::Value("adam"));
  CHECK(params.at("hidden") == tuner::Value(std::int64_t{128}));
  CHECK(with_defaults(*find_workload("lenet5"), {}).at("hidden") == tuner::Value(std::int64_t{84}));
}

TEST_CASE("values are allowed up to their limits and not beyond") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  struct Case {
    const char* name;
    tuner::Value value;
    bool allowed;
  };
  const std::vector<Case> cases{
      {"learning_rate", 1e-9, true},
      {"learning_rate", 100.0, true},
      {"learning_rate", std::int64_t{1}, true},
      {"learning_rate", 0.0, false},
      {"learning_rate", -0.1, false},
      {"learning_rate", 100.1, false},
      {"learning_rate", kNan, false},
      {"learning_rate", kInfinity, false},
      {"learning_rate", "0.1", false},
      {"learning_rate", true, false},
      {"batch_size", std::int64_t{1}, true},
      {"batch_size", std::int64_t{65'536}, true},
      {"batch_size", std::int64_t{0}, false},
      {"batch_size", std::int64_t{65'537}, false},
      {"batch_size", 64.0, false},
      {"momentum", 0.0, true},
      {"momentum", std::int64_t{0}, true},
      {"momentum", 0.999, true},
      {"momentum", 1.0, false},
      {"momentum", -0.1, false},
      {"weight_decay", 1.0, true},
      {"weight_decay", 1.01, false},
      {"dropout", 0.0, true},
      {"dropout", 1.0, false},
      {"dropout", -kInfinity, false},
      {"hidden", std::int64_t{1}, true},
      {"hidden", std::int64_t{-1}, false},
      {"optimizer", "sgd", true},
      {"optimizer", "adam", true},
      {"optimizer", "lion", false},
      {"optimizer", std::int64_t{1}, false},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(i);
    CAPTURE(cases[i].name);
    const auto checked = check_parameters(*find_workload("mlp"), {{cases[i].name, cases[i].value}});
    CHECK(checked.has_value() == cases[i].allowed);
    if (!checked) CHECK(checked.error().message().find(cases[i].name) != std::string::npos);
  }
}

TEST_CASE("errors say what is allowed") {
  const auto range = check_parameters(*find_workload("mlp"), {{"momentum", 1.5}});
  REQUIRE_FALSE(range);
  CHECK(range.error().message() == "workload 'mlp': momentum = 1.5; allowed: a number in [0, 1)");
  const auto unknown = check_parameters(*find_workload("mlp"), {{"learning_rat", 0.1}});
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message() ==
        "workload 'mlp' has no hyperparameter 'learning_rat' (did you mean 'learning_rate'?); it has: "
        "learning_rate, batch_size, momentum, weight_decay, optimizer, dropout, hidden");
}
