#include "tools/cli/study_check.hpp"

#include <doctest/doctest.h>

#include <string>

namespace tandem::tools {
namespace {

std::string study(const std::string& space, const std::string& rest = {}, const std::string& workload = "mlp",
                  const std::string& dataset = "digits", const std::string& objective = "accuracy:max") {
  return "[study]\nname=\"s\"\nobjectives=[\"" + objective + "\"]\n[trial]\nworkload=\"" + workload + "\"\ndataset=\"" +
         dataset + "\"\n[space]\nmomentum={low=0.5,high=0.9}\n" + space + "\n" + rest;
}

std::string refusal(const std::string& text) {
  const auto spec = tuner::parse_study(text, "s.toml");
  if (!spec) return spec.error().message();
  const auto checked = check_study(*spec);
  return checked ? "" : checked.error().message();
}

TEST_CASE("a study of a built-in workload within its limits is accepted") {
  CHECK(refusal(study("learning_rate={low=1e-3,high=1e-1,log=true}\nbatch_size={choice=[32,64]}",
                      "[system]\ncores=[1]\nallocator=[\"default\",\"retain\"]\n")) == "");
}

TEST_CASE("what a workload or the catalog does not have is refused by name, with what is allowed") {
  struct Case {
    std::string text;
    std::vector<const char*> says;
  };
  const std::vector<Case> cases = {
      {study("", "", "mpl"), {"mpl", "mlp"}},
      {study("", "", "mlp", "digit"), {"digit", "digits"}},
      {study("", "", "mlp", "digits", "acuracy:max"), {"acuracy", "accuracy"}},
      {study("learning_rat={low=0.1,high=0.2}"), {"learning_rat", "learning_rate"}},
      {study("batch_size={choice=[32,-1]}"), {"batch_size", "-1"}},
      {study("dropout={low=0.0,high=1.5}"), {"dropout", "1.5"}},
      {study("optimizer={choice=[\"sgd\",\"adamm\"]}"), {"optimizer", "adamm"}},
      {study("", "[system]\ncoers=[1]\n"), {"coers", "cores"}},
      {study("", "[system]\nallocator=[\"jemalloc\"]\n"), {"allocator", "jemalloc", "retain"}},
      {study("", "[system]\ncores=[0]\n"), {"cores", "0"}}};
  for (const auto& one : cases) {
    CAPTURE(one.text);
    const std::string refused = refusal(one.text);
    CAPTURE(refused);
    CHECK(refused != "");
    for (const char* word : one.says) CHECK(refused.find(word) != std::string::npos);
  }
}

}  // namespace
}  // namespace tandem::tools
