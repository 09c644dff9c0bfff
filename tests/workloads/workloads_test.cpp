/// The built-in workloads on LibTorch.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/workloads/models/builtin.hpp"
#include "actors/workloads/workload_registry.hpp"
#include "runtime/base/random.hpp"

namespace tandem::actors {
namespace {

SessionSpec spec_of(const std::string& workload, tuner::Parameters params, std::uint64_t seed = 1) {
  SessionSpec spec;
  spec.workload = workload;
  spec.dataset = "digits";
  spec.data_directory = std::string(TANDEM_SOURCE_DIR) + "/actors/workloads/data";
  spec.params = std::move(params);
  spec.seed = seed;
  return spec;
}

std::unique_ptr<TrainingSession> open(const SessionSpec& spec) {
  static WorkloadRegistry registry;
  auto session = registry.open(spec);
  REQUIRE(session);
  return std::move(*session);
}

void steps(TrainingSession& session, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) REQUIRE(session.step());
}

const tuner::Parameters kParams = {{"batch_size", std::int64_t{50}}, {"dropout", 0.3}, {"hidden", std::int64_t{32}}};

tuner::Parameters system(std::int64_t threads, std::int64_t replicas, std::int64_t micro_batch, const char* allocator) {
  return {{"threads", threads},
          {"replicas", replicas},
          {"micro_batch", micro_batch},
          {"allocator", std::string(allocator)}};
}

/// One image of noise per sample, and a label.
struct Noise {
  std::vector<float> pixels;
  std::vector<std::int64_t> labels;

  Noise(std::int64_t count, ImageShape shape) {
    Random random(5);
    for (std::int64_t i = 0; i < count * shape.height * shape.width; ++i) {
      pixels.push_back(static_cast<float>(random.normal()));
    }
    for (std::int64_t i = 0; i < count; ++i) labels.push_back(random.uniform_int(0, 9));
  }
  [[nodiscard]] Samples samples(std::uint64_t seed) const {
    return {static_cast<std::int64_t>(labels.size()), pixels.data(), labels.data(), {seed, 4, 0}};
  }
};

TEST_CASE("every described workload is registered, and nothing else") {
  std::vector<std::string> described;
  for (const WorkloadInfo& info : builtin_workloads()) described.push_back(info.name);
  std::sort(described.begin(), described.end());
  CHECK(WorkloadRegistry().names() == described);
}

TEST_CASE("gradients agree with finite differences, dropout included") {
  Dataset dataset;
  dataset.classes = 10;
  dataset.training.height = dataset.training.width = 28;
  for (const auto& [name, make] : {std::pair{"mlp", &make_mlp}, std::pair{"lenet5", &make_lenet5}}) {
    CAPTURE(name);
    const auto params = with_defaults(*find_workload(name), {{"hidden", std::int64_t{24}}, {"dropout", 0.3}});
    const auto model = make(params, dataset);
    REQUIRE(model);
    const ParameterLayout& layout = (*model)->layout();
    std::vector<float> parameters(static_cast<std::size_t>(layout.flat_size()));
    layout.initialise(parameters, 3);
    const auto replica = (*model)->make_replica(parameters).value();
    const Noise noise(4, (*model)->input());
    std::vector<float> gradient(parameters.size());
    std::vector<float> unused(parameters.size());
    REQUIRE(replica->loss_and_gradient(noise.samples(9), 0.5F, gradient));

    for (const ParameterBlock& block : layout.blocks()) {
      CAPTURE(block.name);
      // Along the gradient itself: one number for the whole tensor, far above the rounding of floats.
      const auto begin = static_cast<std::size_t>(block.offset);
      const auto count = static_cast<std::size_t>(block.count);
      double length = 0;
      for (std::size_t i = begin; i < begin + count; ++i) length += gradient[i] * gradient[i];
      length = std::sqrt(length);
      REQUIRE(length > 1e-4);
      const std::vector<float> original = parameters;
      constexpr double kStep = 5e-3;
      const auto loss_at = [&](double distance) {
        for (std::size_t i = begin; i < begin + count; ++i) {
          parameters[i] = original[i] + static_cast<float>(distance * gradient[i] / length);
        }
        const double loss = replica->loss_and_gradient(noise.samples(9), 0.5F, unused).value();
        parameters = original;
        return loss;
      };
      const double slope = 0.5 * (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
      CHECK(slope == doctest::Approx(length).epsilon(0.02));
    }
  }
}

TEST_CASE("at the same chunking the result is bitwise the same for any number of replicas and either allocator") {
  for (const char* workload : {"mlp", "lenet5"}) {
    CAPTURE(workload);
    const auto run = [&](std::int64_t replicas, const char* allocator) {
      const auto session = open(spec_of(workload, kParams));
      REQUIRE(session->apply(system(1, replicas, 8, allocator)));
      steps(*session, 10);
      return std::pair(session->save().value(), session->evaluate().value());
    };
    const auto expected = run(1, "default");
    CHECK(run(2, "default") == expected);
    CHECK(run(2, "retain") == expected);
    CHECK(run(3, "retain") == expected);
  }
}

TEST_CASE("a session restored in the middle of an epoch goes on bit by bit") {
  for (const char* optimizer : {"sgd", "adam"}) {
    CAPTURE(optimizer);
    tuner::Parameters params = kParams;
    params["optimizer"] = std::string(optimizer);
    params["learning_rate"] = 0.002;
    const auto original = open(spec_of("lenet5", params));
    REQUIRE(original->apply(system(1, 1, 0, "default")));
    steps(*original, 5);
    const std::string saved = original->save().value();
    const auto restored = open(spec_of("lenet5", params));
    REQUIRE(restored->restore(saved));
    steps(*original, 5);
    steps(*restored, 5);
    CHECK(restored->save().value() == original->save().value());
  }
}

TEST_CASE("system parameters change live and the learning curve stays") {
  const auto still = open(spec_of("lenet5", kParams));
  REQUIRE(still->apply(system(1, 1, 10, "default")));
  steps(*still, 12);
  const auto changing = open(spec_of("lenet5", kParams));
  for (int i = 0; i < 12; ++i) {
    const auto wanted = system(1, 1 + i % 3, 10, i % 2 == 0 ? "retain" : "default");
    CHECK(changing->apply(wanted).value() == wanted);
    steps(*changing, 1);
  }
  CHECK(changing->save().value() == still->save().value());
}

TEST_CASE("more intra-op threads change no more than rounding") {
  const auto loss = [](std::int64_t threads) {
    const auto session = open(spec_of("lenet5", kParams));
    REQUIRE(session->apply(system(threads, 1, 0, "default")));
    steps(*session, 5);
    const double value = session->evaluate().value().at("loss");
    REQUIRE(session->apply(system(1, 1, 0, "default")));
    return value;
  };
  CHECK(loss(2) == doctest::Approx(loss(1)).epsilon(1e-3));
}

TEST_CASE("the default hyperparameters learn the digits") {
  for (const char* workload : {"mlp", "lenet5"}) {
    CAPTURE(workload);
    const auto session = open(spec_of(workload, {}));
    REQUIRE(session->apply(system(1, 1, 0, "retain")));
    double best = 0;
    for (int epoch = 0; epoch < 15 && best < 0.97; ++epoch) {
      steps(*session, session->steps_per_epoch());
      best = std::max(best, session->evaluate().value().at("accuracy"));
    }
    CHECK(best >= 0.97);
    CHECK(session->evaluate_test().value().at("test_accuracy") > 0.94);
  }
}

TEST_CASE("features describe the network") {
  const auto session = open(spec_of("lenet5", {}));
  const ModelFeatures features = session->features();
  CHECK(features.parameter_count == 61'706);  // LeNet-5 as commonly counted
  CHECK(features.input_elements == 784);
  CHECK(features.batch_size == 32);
  CHECK(features.flops_per_sample == doctest::Approx(3 * 2 * 416'520).epsilon(0.01));
  CHECK(features.activation_bytes_per_sample > 50'000);
}

TEST_CASE("what cannot be opened says why") {
  WorkloadRegistry registry;
  struct Case {
    const char* workload;
    const char* dataset;
    tuner::Parameters params;
    const char* expected;
  };
  const std::vector<Case> cases = {
      {"lenet", "digits", {}, "there is no workload 'lenet'; known: lenet5, mlp"},
      {"mlp", "iris", {}, "does not run on data set 'iris'; it runs on: digits, mnist, fashion-mnist"},
      {"mlp", "digits", {{"hiden", std::int64_t{3}}}, "did you mean 'hidden'?"},
      {"mlp", "digits", {{"batch_size", std::int64_t{1'078}}}, "1077 training samples"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.expected);
    SessionSpec spec = spec_of(each.workload, each.params);
    spec.dataset = each.dataset;
    const auto session = registry.open(spec);
    REQUIRE_FALSE(session);
    CHECK(session.error().message().find(each.expected) != std::string::npos);
  }
}

TEST_CASE("memory that cannot be had is an error of its own kind") {
  Dataset dataset;
  dataset.classes = 10;
  dataset.training.height = dataset.training.width = 28;
  const auto model = make_mlp(with_defaults(*find_workload("mlp"), {}), dataset).value();
  std::vector<float> parameters(static_cast<std::size_t>(model->layout().flat_size()));
  const auto replica = model->make_replica(parameters).value();
  std::vector<float> gradient(parameters.size());
  // Far more samples than there is memory; LibTorch asks for its outputs before it reads its inputs.
  const float pixel = 0;
  const std::int64_t label = 0;
  const auto loss = replica->loss_and_gradient({std::int64_t{1} << 46, &pixel, &label, {}}, 1.0F, gradient);
  REQUIRE_FALSE(loss);
  CHECK(loss.error().code() == ErrorCode::resource_exhausted);
  CHECK(loss.error().message().find('\n') == std::string::npos);
}

}  // namespace
}  // namespace tandem::actors
