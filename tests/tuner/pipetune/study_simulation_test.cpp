#include <doctest/doctest.h>

#include "tests/tuner/pipetune/surface.hpp"
#include "tuner/space/value_text.hpp"

using namespace tandem;
using namespace tandem::tuner;
using namespace tandem::tuner::testing;

namespace {

constexpr int kEpochs = 9;

struct Share {
  int of = 0;
  int all = 0;
  void count(bool yes) {
    of += yes ? 1 : 0;
    ++all;
  }
  [[nodiscard]] double value() const { return static_cast<double>(of) / all; }
};

std::vector<std::int64_t> draw_batches(Random& random, int trials) {
  std::vector<std::int64_t> batches;
  for (int i = 0; i < trials; ++i) batches.push_back(std::int64_t{32} << random.uniform_int(0, 5));
  return batches;
}

}  // namespace

TEST_CASE("without any history the choice is within 5 % of the best static configuration, at every batch size") {
  for (const std::int64_t batch : {32, 64, 128, 256, 512, 1024}) {
    CAPTURE(batch);
    Share within;
    Share known;
    double excess = 0;
    double seconds = 0;
    for (std::uint64_t seed = 0; seed < 80; ++seed) {
      Random random(mix_seed(seed, static_cast<std::uint64_t>(batch)));
      SimulatedTrial trial(Surface::random(seed), batch, kEpochs, random);
      GroundTruth ground_truth;
      const TrialOutcome outcome = run_trial(trial, ground_truth);
      within.count(outcome.regret <= 0.05);
      known.count(outcome.default_ratio > 0.7 && outcome.default_ratio < 1.6);
      excess += outcome.excess_seconds;
      seconds += outcome.seconds;
    }
    CHECK(within.value() >= 0.95);
    CHECK(known.value() >= 0.95);  // "3.1× faster than the defaults" rests on this
    CHECK(excess / seconds <= 0.055);
  }
}

TEST_CASE("a study shares its evidence: little excess in the first run, next to none in the second") {
  for (const int trials : {9, 27}) {
    CAPTURE(trials);
    Share affordable;
    Share hits;
    Share wrong;
    double again_excess = 0;
    double again_seconds = 0;
    for (std::uint64_t seed = 0; seed < 25; ++seed) {
      Random random(mix_seed(seed, "study"));
      const Surface surface = Surface::random(seed);
      const auto batches = draw_batches(random, trials);
      GroundTruth ground_truth;
      double excess = 0;
      double seconds = 0;
      for (const std::int64_t batch : batches) {
        SimulatedTrial trial(surface, batch, kEpochs, random);
        const TrialOutcome outcome = run_trial(trial, ground_truth);
        excess += outcome.excess_seconds;
        seconds += outcome.seconds;
      }
      affordable.count(excess <= 0.05 * seconds);

      auto remembered = GroundTruth::from_json(ground_truth.to_json());
      REQUIRE(remembered);
      for (const std::int64_t batch : batches) {
        SimulatedTrial trial(surface, batch, kEpochs, random);
        const TrialOutcome outcome = run_trial(trial, *remembered);
        hits.count(outcome.hit);
        wrong.count(outcome.hit && outcome.regret > 0.10);
        again_excess += outcome.excess_seconds;
        again_seconds += outcome.seconds;
      }
    }
    CHECK(affordable.value() == 1.0);
    CHECK(hits.value() >= 0.9);
    CHECK(wrong.value() <= 0.02);
    CHECK(again_excess / again_seconds <= 0.005);
  }
}

TEST_CASE("another model is not taken for the one remembered, a slightly busier machine is no other model") {
  Random random(11);
  Surface lenet;
  GroundTruth ground_truth;
  SimulatedTrial first(lenet, 256, kEpochs, random);
  REQUIRE_FALSE(run_trial(first, ground_truth).hit);

  Surface busy = lenet;
  busy.slowdown = 1.1;
  SimulatedTrial again(busy, 256, kEpochs, random);
  CHECK(run_trial(again, ground_truth).hit);

  Surface wider = lenet;
  wider.parameter_count *= 4;
  wider.flops_per_sample *= 3;
  wider.activation_bytes_per_sample *= 2;
  wider.sample_seconds *= 3;
  SimulatedTrial other(wider, 256, kEpochs, random);
  const TrialOutcome outcome = run_trial(other, ground_truth);
  CHECK_FALSE(outcome.hit);
  CHECK(outcome.probed);

  SimulatedTrial other_batch(lenet, 512, kEpochs, random);
  CHECK_FALSE(run_trial(other_batch, ground_truth).hit);
}

TEST_CASE("advice that has become wrong is refuted within the trial and no longer given") {
  Random random(3);
  Surface surface;
  GroundTruth ground_truth;
  SimulatedTrial first(surface, 256, kEpochs, random);
  (void)run_trial(first, ground_truth);
  REQUIRE(ground_truth.entries().size() == 1);
  CHECK(Surface::integer(ground_truth.entries().front().best, "replicas") == 2);

  surface.multi_core_slowdown = 2.2;  // the second core is gone, and two cores' work gets into its own way
  SimulatedTrial second(surface, 256, kEpochs, random);
  const TrialOutcome outcome = run_trial(second, ground_truth);
  CHECK(outcome.probed);
  CHECK(outcome.regret <= 0.05);
  CHECK(Surface::integer(outcome.chosen, "cores") == 1);
}
