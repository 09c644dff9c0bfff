#include <algorithm>

#include "tests/e2e/tandem_process.hpp"

namespace tandem::e2e {
namespace {

/// A good study with one thing wrong, and the words its error must contain.
struct Malformed {
  const char* from;
  const char* to;
  std::vector<const char*> says;
};

const std::string kGood =
    "[study]\nname = \"good\"\nobjectives = [\"accuracy:max\"]\nmax_trials = 2\nseed = 1\n"
    "[trial]\nworkload = \"mlp\"\ndataset = \"digits\"\nepochs = 3\n"
    "[space]\nlearning_rate = { low = 1e-3, high = 1e-1, log = true }\nbatch_size = { choice = [32, 64] }\n"
    "[search]\nalgorithm = \"random\"\n"
    "[schedule]\nalgorithm = \"asha\"\nreduction_factor = 3\nmin_epochs = 1\nvariant = \"stopping\"\n"
    "[system]\nmode = \"pipeline\"\ncores = [1]\n";

const std::vector<Malformed> kMalformed = {
    {"[study]", "[study", {":1"}},
    {"[study]", "[studdy]", {"studdy", "study"}},
    {"name = \"good\"", "", {"name"}},
    {"name = \"good\"", "name = 3", {":2", "name"}},
    {"name = \"good\"", "name = \"../x\"", {":2", "name"}},
    {"objectives = [\"accuracy:max\"]", "objectives = []", {"objectives"}},
    {"accuracy:max", "accuracy", {"objectives", ":max"}},
    {"accuracy:max", "accuracy:up", {"objectives", "up"}},
    {"accuracy:max", "acuracy:max", {"acuracy", "accuracy"}},
    {"max_trials = 2", "max_trials = 0", {":4", "max_trials", "at least 1"}},
    {"max_trials = 2", "max_trials = \"2\"", {":4", "max_trials"}},
    {"max_trials = 2", "max_trails = 2", {":4", "max_trails", "max_trials"}},
    {"seed = 1", "seed = -1", {":5", "seed"}},
    {"workload = \"mlp\"", "workload = \"mpl\"", {"mpl", "mlp"}},
    {"workload = \"mlp\"", "", {"workload"}},
    {"dataset = \"digits\"", "dataset = \"digit\"", {"digit", "digits"}},
    {"epochs = 3", "epochs = 0", {":9", "epochs"}},
    {"epochs = 3", "epochs = 1.5", {":9", "epochs"}},
    {"low = 1e-3, high = 1e-1", "low = 1e-1, high = 1e-3", {":11", "learning_rate"}},
    {"low = 1e-3, high = 1e-1", "low = 0.0, high = 1e-1", {":11", "learning_rate"}},
    {"low = 1e-3, high", "hi", {":11", "learning_rate"}},
    {"learning_rate", "learning_rat", {"learning_rat", "learning_rate"}},
    {"choice = [32, 64]", "choice = []", {":12", "batch_size"}},
    {"choice = [32, 64]", "choice = [32, \"64\"]", {":12", "batch_size"}},
    {"choice = [32, 64]", "choice = [32, -1]", {"batch_size", "-1"}},
    {"algorithm = \"random\"", "algorithm = \"randm\"", {":14", "randm", "random"}},
    {"algorithm = \"random\"", "algorithm = \"grid\"", {"grid", "learning_rate"}},
    {"algorithm = \"asha\"", "algorithm = \"ahsa\"", {":16", "ahsa", "asha"}},
    {"reduction_factor = 3", "reduction_factor = 1", {":17", "reduction_factor", "at least 2"}},
    {"min_epochs = 1", "min_epochs = 4", {":18", "min_epochs"}},
    {"variant = \"stopping\"", "variant = \"stoping\"", {":19", "stoping", "stopping"}},
    {"mode = \"pipeline\"", "mode = \"pipelin\"", {":21", "pipelin", "pipeline"}},
    {"cores = [1]", "coers = [1]", {":22", "coers", "cores"}},
    {"cores = [1]", "cores = [0]", {"cores", "0"}},
    {"cores = [1]", "cores = [1]\ncores = [1]", {":23"}}};

TEST_CASE_FIXTURE(TandemProcess,
                  "each malformed study file is one clear error and exit code 2, and leaves nothing behind") {
  CHECK(kMalformed.size() >= 30);
  for (const Malformed& one : kMalformed) {
    CAPTURE(one.to);
    std::string text = kGood;
    const std::size_t at = text.find(one.from);
    REQUIRE(at != std::string::npos);
    text.replace(at, std::string(one.from).size(), one.to);
    const Ended ended = run({"tune", write("bad.toml", text)});
    CAPTURE(ended.err);
    CHECK(ended.code == 2);
    CHECK(ended.out.empty());
    CHECK(ended.err.find("bad.toml") != std::string::npos);
    CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
    for (const char* word : one.says) CHECK(ended.err.find(word) != std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(state()));
}

TEST_CASE_FIXTURE(TandemProcess, "more cores than there are is infeasible, and the error names what there is") {
  const Ended ended = run({"tune", write("s.toml", kGood), "--set", "system.cores=[4096]"});
  CHECK(ended.code == 3);
  CHECK(ended.err.find("4096") != std::string::npos);
}

}  // namespace
}  // namespace tandem::e2e
