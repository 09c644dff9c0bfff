#include "tuner/pipetune/profile.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tandem::tuner;

namespace {

WindowFacts facts() {
  WindowFacts facts;
  facts.steps = 4;
  facts.seconds = 0.4;
  facts.step_seconds = {0.1, 0.1, 0.2, 0.1};
  facts.user_seconds = 0.7;
  facts.system_seconds = 0.1;
  facts.minor_faults = 4000;
  facts.batch_size = 256;
  facts.parameter_count = 61'706;
  facts.flops_per_sample = 2.5e6;
  facts.activation_bytes_per_sample = 9e4;
  facts.input_elements = 784;
  return facts;
}

double feature(const ProfileVector& profile, const std::string& name) {
  const auto found = std::find(profile.names.begin(), profile.names.end(), name);
  REQUIRE(found != profile.names.end());
  return profile.values[static_cast<std::size_t>(found - profile.names.begin())];
}

}  // namespace

TEST_CASE("features are per step: a window of twice the steps looks the same") {
  WindowFacts longer = facts();
  longer.steps *= 2;
  longer.seconds *= 2;
  longer.user_seconds *= 2;
  longer.system_seconds *= 2;
  longer.minor_faults *= 2;
  longer.step_seconds.insert(longer.step_seconds.end(), {0.1, 0.1, 0.1, 0.1});
  const ProfileVector one = make_profile(facts());
  const ProfileVector two = make_profile(longer);
  CHECK(one.names == two.names);
  for (std::size_t i = 0; i < one.values.size(); ++i) CHECK(one.values[i] == doctest::Approx(two.values[i]));
  CHECK(feature(one, "log_step_seconds") == doctest::Approx(std::log(0.1)));
  CHECK(feature(one, "log_faults_per_step") == doctest::Approx(std::log(1001.0)));
  CHECK(feature(one, "cpu_share") == doctest::Approx(2));
}

TEST_CASE("events a host lacks have no feature") {
  WindowFacts counted = facts();
  counted.events = {{"instructions", 4e9}, {"cycles", 2e9}};
  const ProfileVector with = make_profile(counted);
  CHECK(with.names.size() == make_profile(facts()).names.size() + 2);
  CHECK(feature(with, "event_instructions") == doctest::Approx(std::log1p(1e9)));
}

TEST_CASE("nothing counted and nothing sensible still gives finite features") {
  CHECK(profile_fault(make_profile({})).empty());
  WindowFacts odd = facts();
  odd.seconds = std::numeric_limits<double>::quiet_NaN();
  odd.flops_per_sample = -1;
  odd.run_queue_wait_seconds = std::numeric_limits<double>::infinity();
  odd.events = {{"cycles", std::numeric_limits<double>::infinity()}};
  CHECK(profile_fault(make_profile(odd)).empty());
}

TEST_CASE("a vector that cannot be compared is refused with what it lacks") {
  CHECK(profile_fault({1, {"a", "b"}, {1}}) == "as many values as names");
  CHECK(profile_fault({1, {"a"}, {std::nan("")}}) == "a finite number for 'a'");
  CHECK_FALSE(profile_fault({}).empty());
}

TEST_CASE("every feature made has a tolerance of its own") {
  for (const std::string& name : make_profile(facts()).names) {
    CAPTURE(name);
    CHECK(feature_tolerance(name) > 0);
  }
  CHECK(feature_tolerance("log_parameters") < feature_tolerance("log_step_seconds"));
  CHECK(feature_tolerance("log_step_seconds") < feature_tolerance("log_switches_per_step"));
}
