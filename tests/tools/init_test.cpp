#include <doctest/doctest.h>

#include "actors/workloads/workload_info.hpp"
#include "tests/tools/cli_fixture.hpp"
#include "tools/cli/study_check.hpp"
#include "tuner/study/study_spec.hpp"

namespace tandem::tools {
namespace {

TEST_CASE_FIXTURE(CliFixture, "init writes a study file that tune accepts, for every workload and data set") {
  for (const auto& workload : actors::builtin_workloads()) {
    for (const auto& dataset : workload.datasets) {
      const std::string file = "/" + workload.name + "-" + dataset + ".toml";
      const CliRun ran = run({"init", file, "--workload", workload.name, "--dataset", dataset});
      CHECK(ran.exit_code == 0);
      const auto text = files.read_file(file);
      REQUIRE(text.has_value());
      const auto spec = tuner::parse_study(*text, file);
      REQUIRE_MESSAGE(spec.has_value(), spec.error().message());
      CHECK(spec->trial.workload == workload.name);
      CHECK(spec->trial.dataset == dataset);
      CHECK(spec->space.parameters().size() > 2);
      const auto checked = check_study(*spec);
      CHECK_MESSAGE(checked.has_value(), checked.error().message());
    }
  }
}

TEST_CASE_FIXTURE(CliFixture, "init overwrites nothing") {
  files.seed("/study.toml", "mine");
  const CliRun ran = run({"init", "/study.toml"});
  CHECK(ran.exit_code == 2);
  CHECK(ran.err.find("/study.toml") != std::string::npos);
  CHECK(*files.read_file("/study.toml") == "mine");
}

TEST_CASE_FIXTURE(CliFixture, "init refuses unknown workloads and data sets, naming those there are") {
  CHECK(run({"init", "/a.toml", "--workload", "resnet"}).err.find("lenet5") != std::string::npos);
  CHECK(run({"init", "/a.toml", "--dataset", "imagenet"}).err.find("digits") != std::string::npos);
  CHECK(run({"init", "/a.toml", "--workload", "resnet"}).exit_code == 2);
  CHECK_FALSE(files.exists("/a.toml"));
}

}  // namespace
}  // namespace tandem::tools
