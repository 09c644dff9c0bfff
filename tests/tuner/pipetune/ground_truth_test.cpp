#include "tuner/pipetune/ground_truth.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "runtime/base/random.hpp"
#include "tuner/pipetune/limits.hpp"

using namespace tandem;
using namespace tandem::tuner;

namespace {

const Parameters kOne = {{"cores", std::int64_t{1}}};
const Parameters kTwo = {{"cores", std::int64_t{2}}};
const std::vector<Parameters> kAllowed = {kOne, kTwo};
const GroundTruthKey kKey = {256, 2, "time", "host"};

/// A model `size` times LeNet-5, on a machine `slowdown` times as slow, with what a run changes by chance.
ProfileVector profile_of(double size, Random& random, double slowdown = 1) {
  WindowFacts facts;
  facts.steps = 10;
  facts.step_seconds.assign(10, 0.01 * size * slowdown * std::exp(0.1 * random.normal()));
  facts.seconds = 10 * facts.step_seconds.front();
  facts.user_seconds = facts.seconds * (1.5 + 0.2 * random.normal());
  facts.system_seconds = facts.seconds * 0.05;
  facts.minor_faults = random.uniform_int(0, 40);
  facts.voluntary_switches = random.uniform_int(0, 300);
  facts.run_queue_wait_seconds = facts.seconds * 0.4 * random.uniform();
  facts.batch_size = 256;
  facts.parameter_count = static_cast<std::int64_t>(61'706 * size);
  facts.flops_per_sample = 2.5e6 * size;
  facts.activation_bytes_per_sample = 9e4 * size;
  facts.input_elements = 784;
  return make_profile(facts);
}

GroundTruthEntry entry_of(ProfileVector profile, const Parameters& best, GroundTruthKey key = kKey) {
  GroundTruthEntry entry;
  entry.profile = std::move(profile);
  entry.key = std::move(key);
  entry.best = best;
  entry.best_step_seconds = 0.01;
  entry.default_step_seconds = 0.03;
  return entry;
}

}  // namespace

TEST_CASE("the same work hits, in spite of noise and a neighbour") {
  Random random(1);
  GroundTruth ground_truth;
  const std::int64_t number = ground_truth.add(entry_of(profile_of(1, random), kTwo));
  for (int run = 0; run < 100; ++run) {
    const auto hit = ground_truth.match(profile_of(1, random, run % 2 == 0 ? 1 : 1.3), kKey, kAllowed);
    REQUIRE(hit);
    CHECK(hit->entry == number);
    CHECK(hit->best == kTwo);
    CHECK(hit->expected_step_seconds == 0.01);
    CHECK(hit->default_step_seconds == 0.03);
  }
}

TEST_CASE("other work misses, also within a history of many workloads") {
  Random random(2);
  GroundTruth ground_truth;
  for (const double size : {1.0, 3.0, 10.0, 30.0}) {
    for (const std::int64_t batch : {32, 256, 1024}) {
      GroundTruthKey key = kKey;
      key.batch_size = batch;
      ground_truth.add(entry_of(profile_of(size, random), kTwo, key));
    }
  }
  CHECK(ground_truth.cluster_count() >= 4);
  for (const double size : {0.3, 0.55, 1.8, 5.5, 17.0, 100.0}) {
    CAPTURE(size);
    CHECK_FALSE(ground_truth.match(profile_of(size, random), kKey, kAllowed));
  }
  for (const double size : {1.0, 3.0, 10.0, 30.0}) {
    CAPTURE(size);
    CHECK(ground_truth.match(profile_of(size, random), kKey, kAllowed));
  }
}

TEST_CASE("evidence holds for exactly its key, and for configurations allowed") {
  Random random(3);
  GroundTruth ground_truth;
  const ProfileVector profile = profile_of(1, random);
  ground_truth.add(entry_of(profile, kTwo));
  REQUIRE(ground_truth.match(profile, kKey, kAllowed));
  const GroundTruthKey others[] = {
      {512, 2, "time", "host"}, {256, 1, "time", "host"}, {256, 2, "energy", "host"}, {256, 2, "time", "other"}};
  for (const GroundTruthKey& other : others) CHECK_FALSE(ground_truth.match(profile, other, kAllowed));
  CHECK_FALSE(ground_truth.match(profile, kKey, {kOne}));
  CHECK_FALSE(ground_truth.match(profile, kKey, {}));
}

TEST_CASE("profiles with other features are never compared") {
  Random random(4);
  GroundTruth ground_truth;
  ProfileVector profile = profile_of(1, random);
  ground_truth.add(entry_of(profile, kTwo));
  ProfileVector newer = profile;
  newer.version = 2;
  CHECK_FALSE(ground_truth.match(newer, kKey, kAllowed));
  ProfileVector more = profile;
  more.names.push_back("event_cycles");
  more.values.push_back(20);
  CHECK_FALSE(ground_truth.match(more, kKey, kAllowed));
  profile.values.pop_back();
  CHECK_FALSE(ground_truth.match(profile, kKey, kAllowed));
  CHECK(ground_truth.add(entry_of(profile, kTwo)) == -1);
  CHECK(ground_truth.entries().size() == 1);
}

TEST_CASE("contradicted advice gives way, and is silenced the second time") {
  Random random(5);
  GroundTruth ground_truth;
  const ProfileVector profile = profile_of(1, random);
  const auto old = ground_truth.add(entry_of(profile, kTwo));
  const auto newer = ground_truth.add(entry_of(profile_of(1, random), kOne));
  CHECK(ground_truth.match(profile, kKey, kAllowed)->entry == newer);
  ground_truth.contradict(newer);
  CHECK(ground_truth.match(profile, kKey, kAllowed)->entry == old);
  ground_truth.contradict(old);
  ground_truth.contradict(old);
  CHECK(ground_truth.match(profile, kKey, kAllowed)->entry == newer);
  ground_truth.contradict(newer);
  CHECK_FALSE(ground_truth.match(profile, kKey, kAllowed));
  ground_truth.contradict(99);  // forgotten since: no harm
}

TEST_CASE("what was missed for a noisy feature widens that feature's scale") {
  Random random(6);
  GroundTruth ground_truth;
  ProfileVector quiet = profile_of(1, random);
  ProfileVector loud = quiet;
  ProfileVector similar = quiet;
  for (std::size_t f = 0; f < loud.names.size(); ++f) {
    if (feature_tolerance(loud.names[f]) <= 0.05) continue;
    loud.values[f] += 2.4 * feature_tolerance(loud.names[f]);
    similar.values[f] += 4.0 * feature_tolerance(similar.names[f]);
  }
  ground_truth.add(entry_of(quiet, kTwo));
  REQUIRE_FALSE(ground_truth.match(loud, kKey, kAllowed));
  REQUIRE_FALSE(ground_truth.match(similar, kKey, kAllowed));
  ground_truth.add(entry_of(loud, kTwo));
  CHECK(ground_truth.match(similar, kKey, kAllowed));
}

TEST_CASE("the history is bounded: the most contradicted goes first, then the oldest; numbers stay valid") {
  // Filled through its own JSON: adding one by one would cluster four thousand times.
  Random random(8);
  GroundTruth one;
  one.add(entry_of(profile_of(1, random), kTwo));
  auto text = nlohmann::json::parse(one.to_json());
  const auto sample = text["entries"][0];
  text["entries"].clear();
  for (std::size_t number = 0; number < limits::kMaxGroundTruthEntries; ++number) {
    text["entries"].push_back(sample);
    text["entries"].back()["number"] = number;
  }
  text["next_number"] = limits::kMaxGroundTruthEntries;
  auto full = GroundTruth::from_json(text.dump());
  REQUIRE(full);
  GroundTruth& ground_truth = *full;
  ground_truth.contradict(17);
  const auto added = ground_truth.add(entry_of(profile_of(1, random), kOne));
  CHECK(ground_truth.entries().size() == limits::kMaxGroundTruthEntries);
  CHECK(added == static_cast<std::int64_t>(limits::kMaxGroundTruthEntries));
  const auto has = [&](std::int64_t number) {
    return std::any_of(ground_truth.entries().begin(), ground_truth.entries().end(),
                       [number](const auto& entry) { return entry.number == number; });
  };
  CHECK_FALSE(has(17));
  CHECK(has(0));
  ground_truth.add(entry_of(profile_of(1, random), kOne));
  CHECK_FALSE(has(0));
}

TEST_CASE("JSON brings back the same advice") {
  Random random(9);
  GroundTruth ground_truth;
  for (const double size : {1.0, 3.0, 10.0}) ground_truth.add(entry_of(profile_of(size, random), kTwo));
  ground_truth.contradict(1);
  const std::string text = ground_truth.to_json();
  auto restored = GroundTruth::from_json(text);
  REQUIRE(restored);
  CHECK(restored->to_json() == text);
  CHECK(restored->cluster_count() == ground_truth.cluster_count());
  CHECK(restored->match(profile_of(3, random), kKey, kAllowed)->entry == 1);
  CHECK(restored->add(entry_of(profile_of(1, random), kOne)) == 3);
  CHECK(GroundTruth::from_json(GroundTruth().to_json()));
}

TEST_CASE("damaged JSON is refused by the name of the field") {
  Random random(10);
  GroundTruth ground_truth;
  ground_truth.add(entry_of(profile_of(1, random), kTwo));
  ground_truth.add(entry_of(profile_of(3, random), kTwo));
  const auto sound = nlohmann::json::parse(ground_truth.to_json());
  struct Damage {
    const char* pointer;
    nlohmann::json value;
    const char* named;
  };
  const Damage damages[] = {
      {"/version", 99, "version"},
      {"/entries", "none", "entries"},
      {"/entries/1/key/batch_size", "256", "entries[1].key.batch_size"},
      {"/entries/1/key/objective", 1, "entries[1].key.objective"},
      {"/entries/0/profile/values/2", "x", "entries[0].profile.values[2]"},
      {"/entries/0/profile/values", nlohmann::json::array({1.0}), "entries[0].profile: expected as many values"},
      {"/entries/0/best", 5, "entries[0].best"},
      {"/entries/0/best_step_seconds", -1, "entries[0].best_step_seconds"},
      {"/entries/0/contradictions", 0.5, "entries[0].contradictions"},
      {"/entries/1/number", 0, "entries[1].number"},
      {"/entries/1/number", 7, "entries[1].number"},
  };
  for (const Damage& damage : damages) {
    CAPTURE(damage.named);
    auto damaged = sound;
    damaged[nlohmann::json::json_pointer(damage.pointer)] = damage.value;
    const auto read = GroundTruth::from_json(damaged.dump());
    REQUIRE_FALSE(read);
    CHECK(read.error().code() == ErrorCode::data_loss);
    CHECK(read.error().message().find(damage.named) != std::string::npos);
  }
  for (const char* text : {"", "{", "[]", "null", "{\"version\":1}"}) {
    CAPTURE(text);
    const auto read = GroundTruth::from_json(text);
    REQUIRE_FALSE(read);
    CHECK(read.error().code() == ErrorCode::data_loss);
  }
}
