/// The session over a small model written out by hand: everything but LibTorch.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/workloads/classification_session.hpp"
#include "runtime/base/random.hpp"

namespace tandem::actors {
namespace {

using runtime::AllocatorKind;

class FakeBackend final : public runtime::KernelBackend {
 public:
  Result<> set_threads(int threads) override {
    if (threads == 13) return fail(ErrorCode::internal, "unlucky");
    threads_ = threads;
    return {};
  }
  [[nodiscard]] int threads() const override { return threads_; }
  void enter_thread(int) override {}
  Result<> place(std::span<const int> processors) override {
    placed_.assign(processors.begin(), processors.end());
    return {};
  }
  [[nodiscard]] const std::vector<int>& placed() const noexcept { return placed_; }
  Result<> set_allocator(AllocatorKind kind) override {
    allocator_ = kind;
    return {};
  }
  [[nodiscard]] AllocatorKind allocator() const override { return allocator_; }
  [[nodiscard]] runtime::AllocatorStatistics allocator_statistics() const override { return {}; }

 private:
  int threads_ = 2;
  AllocatorKind allocator_ = AllocatorKind::framework;
  std::vector<int> placed_;
};

constexpr int kSide = 4;
constexpr int kPixels = kSide * kSide;
constexpr int kClasses = 3;

enum class Fault { none, out_of_memory };

/// Softmax regression with dropout on its inputs.
class LinearReplica final : public Replica {
 public:
  LinearReplica(std::span<float> weights, double dropout, const Fault& fault)
      : weights_(weights), dropout_(dropout), fault_(fault) {}

  Result<double> loss_and_gradient(const Samples& samples, float scale, std::span<float> gradient) override {
    if (fault_ == Fault::out_of_memory) throw std::bad_alloc();
    std::fill(gradient.begin(), gradient.end(), 0.0F);
    std::vector<float> mask(static_cast<std::size_t>(samples.count * kPixels), 1.0F);
    if (dropout_ > 0) fill_dropout_mask(samples.dropout, 0, dropout_, kPixels, mask);
    double total = 0;
    for (std::int64_t i = 0; i < samples.count; ++i) {
      std::vector<float> x(samples.pixels + i * kPixels, samples.pixels + (i + 1) * kPixels);
      for (int k = 0; k < kPixels; ++k)
        x[static_cast<std::size_t>(k)] *= mask[static_cast<std::size_t>(i * kPixels + k)];
      auto p = probabilities(x.data());
      total -= std::log(p[static_cast<std::size_t>(samples.labels[i])]);
      p[static_cast<std::size_t>(samples.labels[i])] -= 1;
      for (int c = 0; c < kClasses; ++c) {
        for (int k = 0; k < kPixels; ++k) {
          gradient[static_cast<std::size_t>(c * kPixels + k)] +=
              scale * p[static_cast<std::size_t>(c)] * x[static_cast<std::size_t>(k)];
        }
      }
    }
    return total;
  }

  Result<EvaluationSums> evaluate(const Samples& samples) override {
    EvaluationSums sums;
    for (std::int64_t i = 0; i < samples.count; ++i) {
      const auto p = probabilities(samples.pixels + i * kPixels);
      const auto label = static_cast<std::size_t>(samples.labels[i]);
      sums.correct += std::max_element(p.begin(), p.end()) - p.begin() == samples.labels[i] ? 1 : 0;
      sums.loss -= std::log(p[label]);
    }
    return sums;
  }

 private:
  std::vector<float> probabilities(const float* x) const {
    std::vector<float> p(kClasses);
    float sum = 0;
    for (int c = 0; c < kClasses; ++c) {
      float logit = 0;
      for (int k = 0; k < kPixels; ++k) logit += weights_[static_cast<std::size_t>(c * kPixels + k)] * x[k];
      sum += p[static_cast<std::size_t>(c)] = std::exp(logit);
    }
    for (float& value : p) value /= sum;
    return p;
  }

  std::span<float> weights_;
  double dropout_;
  const Fault& fault_;
};

class LinearModel final : public Model {
 public:
  LinearModel(double dropout, const Fault& fault) : dropout_(dropout), fault_(fault) {
    layout_.add("weights", {kClasses, kPixels}, kPixels);
  }
  [[nodiscard]] const ParameterLayout& layout() const override { return layout_; }
  [[nodiscard]] ImageShape input() const override { return {kSide, kSide}; }
  [[nodiscard]] ForwardCost cost() const override { return {100, 10}; }
  [[nodiscard]] Result<std::unique_ptr<Replica>> make_replica(std::span<float> parameters) const override {
    return std::make_unique<LinearReplica>(parameters, dropout_, fault_);
  }

 private:
  ParameterLayout layout_;
  double dropout_;
  const Fault& fault_;
};

LabelledImages blobs(std::int64_t count, std::uint64_t seed) {
  LabelledImages images;
  images.height = images.width = kSide;
  Random random(seed);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto label = static_cast<std::uint8_t>(random.uniform_int(0, kClasses - 1));
    images.labels.push_back(label);
    for (int k = 0; k < kPixels; ++k) {
      images.pixels.push_back(static_cast<std::uint8_t>(random.uniform_int(0, 120) + (k % kClasses == label ? 90 : 0)));
    }
  }
  return images;
}

/// A session and what it needs to live.
struct Bench {
  FakeBackend backend;
  Fault fault = Fault::none;
  std::unique_ptr<TrainingSession> session;

  explicit Bench(const tuner::Parameters& params = {}, std::uint64_t seed = 1) {
    auto opened = open(params, seed);
    REQUIRE(opened);
    session = std::move(*opened);
  }

  Result<std::unique_ptr<TrainingSession>> open(const tuner::Parameters& params, std::uint64_t seed) {
    auto dataset = std::make_shared<Dataset>();
    dataset->name = "blobs";
    dataset->classes = kClasses;
    dataset->training = blobs(200, 1);
    dataset->validation = blobs(600, 2);
    dataset->test = blobs(100, 3);
    dataset->pixel_mean = 0.3;
    dataset->pixel_deviation = 0.2;
    SessionSpec spec;
    spec.workload = "mlp";
    spec.dataset = "blobs";
    spec.params = params;
    spec.seed = seed;
    const MakeModel make = [this](const tuner::Parameters& complete, const Dataset&) -> Result<std::unique_ptr<Model>> {
      return std::make_unique<LinearModel>(number_of(complete, "dropout"), fault);
    };
    return ClassificationSession::open(spec, *find_workload("mlp"), make, dataset, backend);
  }

  void steps(int count) const {
    for (int i = 0; i < count; ++i) REQUIRE(session->step());
  }
  [[nodiscard]] std::string state() const { return session->save().value(); }
};

const tuner::Parameters kParams = {{"batch_size", std::int64_t{48}}, {"dropout", 0.2}, {"momentum", 0.9}};

tuner::Parameters system(std::int64_t replicas, std::int64_t micro_batch) {
  return {{"replicas", replicas}, {"micro_batch", micro_batch}};
}

TEST_CASE("training learns, and reports validation and training metrics") {
  const Bench bench;
  bench.steps(static_cast<int>(3 * bench.session->steps_per_epoch()));
  CHECK(bench.session->step_index() == 3 * bench.session->steps_per_epoch());
  const auto metrics = bench.session->evaluate().value();
  CHECK(metrics.at("accuracy") > 0.9);
  CHECK(metrics.at("loss") < 0.5);
  CHECK(metrics.at("training_loss") < 0.5);
  const auto test = bench.session->evaluate_test().value();
  const double p = test.at("test_accuracy");
  CHECK(p > 0.9);
  CHECK(test.at("test_accuracy_stderr") == doctest::Approx(std::sqrt(p * (1 - p) / 100)));
  CHECK(test.contains("test_loss"));
}

TEST_CASE("an epoch takes every sample once, the last batch being what is left") {
  const Bench bench({{"batch_size", std::int64_t{64}}});
  CHECK(bench.session->steps_per_epoch() == 4);
  CHECK(Bench({{"batch_size", std::int64_t{200}}}).session->steps_per_epoch() == 1);
}

TEST_CASE("at the same chunking the result is bitwise the same for any number of replicas") {
  Bench one(kParams);
  REQUIRE(one.session->apply(system(1, 10)));
  one.steps(12);
  for (const std::int64_t replicas : {2, 3, 5}) {
    CAPTURE(replicas);
    Bench many(kParams);
    REQUIRE(many.session->apply(system(replicas, 10)));
    many.steps(12);
    CHECK(many.state() == one.state());
    CHECK(many.session->evaluate().value() == one.session->evaluate().value());
  }
}

TEST_CASE("changing system parameters between steps leaves the learning curve as it is") {
  Bench still(kParams);
  REQUIRE(still.session->apply(system(1, 7)));
  still.steps(15);
  Bench changing(kParams);
  for (int i = 0; i < 15; ++i) {
    const std::int64_t replicas = i % 4 + 1;
    REQUIRE(changing.session->apply({{"replicas", replicas},
                                     {"micro_batch", std::int64_t{7}},
                                     {"threads", std::int64_t{1 + i % 2}},
                                     {"allocator", std::string(i % 2 == 0 ? "retain" : "default")}}));
    changing.steps(1);
  }
  CHECK(changing.state() == still.state());
}

TEST_CASE("another chunking changes no more than rounding") {
  Bench whole(kParams);
  Bench cut(kParams);
  REQUIRE(cut.session->apply(system(2, 5)));
  whole.steps(10);
  cut.steps(10);
  CHECK(cut.session->evaluate().value().at("loss") ==
        doctest::Approx(whole.session->evaluate().value().at("loss")).epsilon(1e-4));
}

TEST_CASE("a session restored in the middle of an epoch goes on bit by bit") {
  for (const char* optimizer : {"sgd", "adam"}) {
    CAPTURE(optimizer);
    tuner::Parameters params = kParams;
    params["optimizer"] = std::string(optimizer);
    params["learning_rate"] = 0.01;
    Bench original(params);
    original.steps(7);  // five steps an epoch
    const std::string saved = original.state();
    Bench restored(params);
    restored.steps(3);
    REQUIRE(restored.session->restore(saved));
    CHECK(restored.session->step_index() == 7);
    CHECK(restored.state() == saved);
    CHECK(restored.session->evaluate().value() == original.session->evaluate().value());
    original.steps(9);
    restored.steps(9);
    CHECK(restored.state() == original.state());
  }
}

TEST_CASE("a damaged or foreign checkpoint is refused and changes nothing") {
  Bench bench(kParams);
  bench.steps(2);
  const std::string before = bench.state();
  std::string damaged = before;
  damaged[damaged.size() / 2] ^= 4;
  const auto refused = bench.session->restore(damaged);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::data_loss);
  tuner::Parameters others = kParams;
  others["momentum"] = 0.5;
  for (const std::string& foreign : {Bench(others).state(), Bench(kParams, 2).state()}) {
    const auto mismatch = bench.session->restore(foreign);
    REQUIRE_FALSE(mismatch);
    CHECK(mismatch.error().code() == ErrorCode::failed_precondition);
  }
  CHECK(bench.state() == before);
}

TEST_CASE("the same seed gives the same run, another seed another") {
  const auto run = [](std::uint64_t seed) {
    Bench bench(kParams, seed);
    bench.steps(6);
    const auto metrics = bench.session->evaluate().value();
    return std::pair(metrics.at("loss"), metrics.at("training_loss"));
  };
  CHECK(run(4) == run(4));
  CHECK(run(4) != run(5));
}

TEST_CASE("what is applied is read back, and what is not named stays") {
  Bench bench;
  const auto first = bench.session->apply({{"cores", std::int64_t{2}},
                                           {"threads", std::int64_t{1}},
                                           {"replicas", std::int64_t{2}},
                                           {"allocator", std::string("retain")}});
  REQUIRE(first);
  CHECK(*first == tuner::Parameters{{"cores", std::int64_t{2}},
                                    {"threads", std::int64_t{1}},
                                    {"replicas", std::int64_t{2}},
                                    {"micro_batch", std::int64_t{0}},
                                    {"allocator", std::string("retain")}});
  const auto second = bench.session->apply({{"micro_batch", std::int64_t{8}}});
  REQUIRE(second);
  CHECK(second->at("replicas") == tuner::Value(std::int64_t{2}));
  CHECK(second->at("micro_batch") == tuner::Value(std::int64_t{8}));
}

TEST_CASE("the calling thread is placed on its replica's share of the processors, on all if they are too few") {
  Bench bench;
  REQUIRE(bench.session->apply({{"threads", std::int64_t{1}}, {"replicas", std::int64_t{2}}}));
  REQUIRE(bench.session->place(std::vector<int>{4, 6}));
  CHECK(bench.backend.placed() == std::vector<int>{4});
  REQUIRE(bench.session->place(std::vector<int>{5}));
  CHECK(bench.backend.placed() == std::vector<int>{5});
  REQUIRE(bench.session->apply({{"threads", std::int64_t{2}}, {"replicas", std::int64_t{1}}}));
  REQUIRE(bench.session->place(std::vector<int>{4, 6}));
  CHECK(bench.backend.placed() == std::vector<int>{4, 6});
}

TEST_CASE("system parameters that make no sense are refused and change nothing") {
  Bench bench(kParams);
  const auto before = bench.session->apply({{"replicas", std::int64_t{2}}}).value();
  struct Case {
    const char* name;
    tuner::Value value;
    const char* expected;
  };
  const std::vector<Case> cases = {
      {"replicas", std::int64_t{0}, "from 1 to 48"},     {"replicas", std::int64_t{49}, "from 1 to 48"},
      {"threads", std::int64_t{0}, "from 1 to"},         {"threads", 1.0, "integer"},
      {"micro_batch", std::int64_t{49}, "from 0 to 48"}, {"micro_batch", std::int64_t{-1}, "from 0 to 48"},
      {"cores", std::int64_t{0}, "from 1 to"},           {"allocator", std::string("jemalloc"), "default or retain"},
      {"allocator", true, "default or retain"},          {"colour", std::int64_t{1}, "known: cores, threads"},
      {"threads", std::int64_t{13}, "unlucky"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    tuner::Parameters mixed = {{"allocator", std::string("retain")}, {"micro_batch", std::int64_t{4}}};
    mixed[each.name] = each.value;
    const auto refused = bench.session->apply(mixed);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message().find(each.expected) != std::string::npos);
    CHECK(bench.session->apply({}).value() == before);
  }
}

TEST_CASE("running out of memory is an error, and the step can be tried again") {
  Bench bench(kParams);
  Bench undisturbed(kParams);
  REQUIRE(bench.session->apply(system(3, 5)));
  REQUIRE(undisturbed.session->apply(system(3, 5)));
  bench.steps(2);
  const std::string before = bench.state();
  bench.fault = Fault::out_of_memory;
  const auto failed = bench.session->step();
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == ErrorCode::resource_exhausted);
  CHECK(bench.state() == before);
  bench.fault = Fault::none;
  bench.steps(3);
  undisturbed.steps(5);
  CHECK(bench.state() == undisturbed.state());
}

TEST_CASE("a loss that is not finite is a metric, not an error") {
  Bench bench({{"learning_rate", 100.0}, {"momentum", 0.99}, {"batch_size", std::int64_t{4}}});
  bench.steps(120);
  const auto metrics = bench.session->evaluate();
  REQUIRE(metrics);
  CHECK_FALSE(std::isfinite(metrics->at("training_loss")));
}

TEST_CASE("hyperparameters that do not suit the data set are refused") {
  Bench bench;
  const auto large = bench.open({{"batch_size", std::int64_t{201}}}, 1);
  REQUIRE_FALSE(large);
  CHECK(large.error().message().find("200 training samples") != std::string::npos);
  CHECK_FALSE(bench.open({{"colour", std::int64_t{1}}}, 1));
}

}  // namespace
}  // namespace tandem::actors
