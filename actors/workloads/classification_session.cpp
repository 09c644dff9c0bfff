#include "actors/workloads/classification_session.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "actors/workloads/limits.hpp"
#include "actors/workloads/session_state.hpp"
#include "runtime/base/random.hpp"
#include "runtime/executor/tree_reduction.hpp"
#include "tuner/space/value_text.hpp"

namespace tandem::actors {

namespace {

using runtime::AllocatorKind;
using Buffer = GradientPool::Buffer;

constexpr double kBackwardFactor = 2.0;  // the backward pass computes two products for each of the forward's

std::uint64_t fingerprint_of(const SessionSpec& spec, const tuner::Parameters& params) {
  std::uint64_t fingerprint = mix_seed(spec.seed, spec.workload);
  fingerprint = mix_seed(fingerprint, spec.dataset);
  return mix_seed(fingerprint, tuner::canonical_text(params));
}

}  // namespace

Result<std::unique_ptr<TrainingSession>> ClassificationSession::open(const SessionSpec& spec,
                                                                     const WorkloadInfo& workload,
                                                                     const MakeModel& make_model,
                                                                     std::shared_ptr<const Dataset> dataset,
                                                                     runtime::KernelBackend& backend) {
  if (auto checked = check_parameters(workload, spec.params); !checked) return forward_error(checked);
  tuner::Parameters params = with_defaults(workload, spec.params);
  const auto batch_size = static_cast<std::int64_t>(number_of(params, "batch_size"));
  if (batch_size > dataset->training.size()) {
    return fail(ErrorCode::invalid_argument, "batch_size = {} is not allowed: {} has {} training samples", batch_size,
                spec.dataset, dataset->training.size());
  }
  auto model = make_model(params, *dataset);
  if (!model) return forward_error(model);
  std::unique_ptr<ClassificationSession> session(
      new ClassificationSession(spec, std::move(params), std::move(*model), std::move(dataset), backend));
  if (auto added = session->add_slots(1); !added) return forward_error(added);
  return session;
}

ClassificationSession::ClassificationSession(const SessionSpec& spec, tuner::Parameters params,
                                             std::unique_ptr<Model> model, std::shared_ptr<const Dataset> dataset,
                                             runtime::KernelBackend& backend)
    : params_(std::move(params)),
      seed_(spec.seed),
      fingerprint_(fingerprint_of(spec, params_)),
      batch_size_(static_cast<std::int64_t>(number_of(params_, "batch_size"))),
      dataset_(std::move(dataset)),
      model_(std::move(model)),
      backend_(backend),
      reader_(*dataset_, model_->input()),
      parameters_(static_cast<std::size_t>(model_->layout().flat_size())),
      optimizer_(make_optimizer(params_, model_->layout().flat_size())),
      gradients_(model_->layout().flat_size()) {
  model_->layout().initialise(parameters_, mix_seed(seed_, "weights"));
  settings_.allocator = backend_.allocator();
}

std::int64_t ClassificationSession::steps_per_epoch() const noexcept {
  return (dataset_->training.size() + batch_size_ - 1) / batch_size_;
}

ModelFeatures ClassificationSession::features() const {
  const ForwardCost cost = model_->cost();
  ModelFeatures features;
  features.parameter_count = model_->layout().parameter_count();
  features.flops_per_sample = (1 + kBackwardFactor) * cost.flops;
  features.activation_bytes_per_sample = cost.activation_bytes;
  features.input_elements = std::int64_t{model_->input().height} * model_->input().width;
  features.batch_size = batch_size_;
  return features;
}

Result<> ClassificationSession::add_slots(int count) {
  while (static_cast<int>(slots_.size()) < count) {
    auto replica = model_->make_replica(parameters_);
    if (!replica) return forward_error(replica);
    slots_.push_back({std::move(*replica), {}});
  }
  return {};
}

Result<tuner::Parameters> ClassificationSession::apply(const tuner::Parameters& system) {
  const auto next = settings_.with(system, batch_size_);
  if (!next) return forward_error(next);
  if (auto applied = put_in_force(*next); !applied) {
    // Each of these was in force a moment ago.
    (void)put_in_force(settings_);
    return forward_error(applied);
  }
  settings_ = *next;
  return in_force();
}

Result<> ClassificationSession::put_in_force(const SystemSettings& settings) {
  if (auto added = add_slots(settings.replicas); !added) return added;
  if (auto resized = executor_.resize(settings.replicas); !resized) return resized;
  if (settings.threads > 0) {
    if (auto set = backend_.set_threads(settings.threads); !set) return set;
    set_thread_hook();
  }
  if (settings.allocator != backend_.allocator()) return backend_.set_allocator(settings.allocator);
  return {};
}

/// What belongs to a thread must be told to each worker of the arena: OpenMP's thread count at every run, its place
/// when it first serves a slot.
void ClassificationSession::set_thread_hook() {
  static std::atomic<std::uint64_t> placements{0};
  const std::uint64_t placement = ++placements;
  const int threads = backend_.threads();
  executor_.set_thread_hook([this, placement, threads](int slot) {
    if (slot == 0) return;
    backend_.enter_thread(threads);
    thread_local std::pair<std::uint64_t, int> placed{0, 0};
    if (std::exchange(placed, {placement, slot}) == std::pair{placement, slot}) return;
    const auto first = static_cast<std::size_t>(slot) * static_cast<std::size_t>(threads);
    if (first + static_cast<std::size_t>(threads) > processors_.size()) return;
    // Where it could not be pinned it runs all the same.
    (void)backend_.place(std::span(processors_).subspan(first, static_cast<std::size_t>(threads)));
  });
}

Result<> ClassificationSession::place(std::span<const int> processors) {
  processors_.assign(processors.begin(), processors.end());
  const auto threads = static_cast<std::size_t>(std::max(backend_.threads(), 1));
  const auto slots = static_cast<std::size_t>(executor_.slots());
  set_thread_hook();
  // More threads than processors: none is pinned, here or in the hook.
  const bool enough = threads * slots <= processors_.size();
  const auto own = enough ? std::span(processors_).first(threads) : std::span(processors_);
  const auto placed = backend_.place(own);
  if (!enough) processors_.clear();
  return placed;
}

tuner::Parameters ClassificationSession::in_force() const {
  tuner::Parameters system;
  if (settings_.cores > 0) system["cores"] = std::int64_t{settings_.cores};
  system["threads"] = std::int64_t{backend_.threads()};
  system["replicas"] = std::int64_t{executor_.slots()};
  system["micro_batch"] = settings_.micro_batch;
  system["allocator"] = std::string(backend_.allocator() == AllocatorKind::retaining ? "retain" : "default");
  return system;
}

Result<> ClassificationSession::step() {
  const std::int64_t epoch = step_index_ / steps_per_epoch();
  const std::int64_t begin = step_index_ % steps_per_epoch() * batch_size_;
  if (order_epoch_ != epoch) {
    order_ = shuffled_order(dataset_->training.size(), seed_, epoch);
    order_epoch_ = epoch;
  }
  const std::int64_t samples = std::min(batch_size_, dataset_->training.size() - begin);
  const auto batch = std::span<const std::uint32_t>(order_).subspan(static_cast<std::size_t>(begin),
                                                                    static_cast<std::size_t>(samples));
  const std::int64_t chunks = settings_.chunks(samples);
  const float scale = 1.0F / static_cast<float>(samples);
  std::vector<double> losses(static_cast<std::size_t>(chunks));
  gradients_.take_back_all();
  runtime::TreeReduction<Buffer*> reduction(static_cast<std::size_t>(chunks), [this](Buffer* left, Buffer* right) {
    std::transform(left->begin(), left->end(), right->begin(), left->begin(), std::plus<>());
    gradients_.give_back(right);
    return left;
  });
  const auto done = executor_.run_chunks(chunks, [&](std::int64_t chunk, int slot_index) -> Result<> {
    const auto [first, last] = settings_.chunk_bounds(chunk, samples);
    Slot& slot = slots_[static_cast<std::size_t>(slot_index)];
    Samples input = reader_.gather(
        dataset_->training, batch.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)),
        slot.buffer);
    input.dropout = {seed_, step_index_, first};
    Buffer* gradient = gradients_.take();
    auto loss = slot.replica->loss_and_gradient(input, scale, *gradient);
    if (!loss) return forward_error(loss);
    losses[static_cast<std::size_t>(chunk)] = *loss;
    reduction.put(static_cast<std::size_t>(chunk), gradient);
    return {};
  });
  if (!done) return done;
  optimizer_->update(parameters_, *reduction.take());
  if (begin == 0) epoch_loss_ = 0, epoch_samples_ = 0;
  for (const double loss : losses) epoch_loss_ += loss;
  epoch_samples_ += samples;
  ++step_index_;
  return {};
}

Result<ClassificationSession::Measured> ClassificationSession::measure(const LabelledImages& split) {
  const std::int64_t chunks = (split.size() + kEvaluationBatch - 1) / kEvaluationBatch;
  std::vector<EvaluationSums> sums(static_cast<std::size_t>(chunks));
  const auto done = executor_.run_chunks(chunks, [&](std::int64_t chunk, int slot_index) -> Result<> {
    Slot& slot = slots_[static_cast<std::size_t>(slot_index)];
    const std::int64_t begin = chunk * kEvaluationBatch;
    const Samples input =
        reader_.gather_range(split, begin, std::min(kEvaluationBatch, split.size() - begin), slot.buffer);
    auto sum = slot.replica->evaluate(input);
    if (!sum) return forward_error(sum);
    sums[static_cast<std::size_t>(chunk)] = *sum;
    return {};
  });
  if (!done) return forward_error(done);
  Measured measured;
  std::int64_t correct = 0;
  for (const EvaluationSums& sum : sums) {
    correct += sum.correct;
    measured.loss += sum.loss;
  }
  measured.samples = split.size();
  measured.accuracy = static_cast<double>(correct) / static_cast<double>(split.size());
  measured.loss /= static_cast<double>(split.size());
  return measured;
}

Result<Metrics> ClassificationSession::evaluate() {
  const auto measured = measure(dataset_->validation);
  if (!measured) return forward_error(measured);
  const double training_loss =
      epoch_samples_ > 0 ? epoch_loss_ / static_cast<double>(epoch_samples_) : std::numeric_limits<double>::quiet_NaN();
  return Metrics{{"accuracy", measured->accuracy}, {"loss", measured->loss}, {"training_loss", training_loss}};
}

Result<Metrics> ClassificationSession::evaluate_test() {
  const auto measured = measure(dataset_->test);
  if (!measured) return forward_error(measured);
  const double p = measured->accuracy;
  const double deviation = std::sqrt(p * (1 - p) / static_cast<double>(measured->samples));  // of a binomial share
  return Metrics{{"test_accuracy", p}, {"test_accuracy_stderr", deviation}, {"test_loss", measured->loss}};
}

Result<std::string> ClassificationSession::save() {
  SessionState state;
  state.fingerprint = fingerprint_;
  state.step_index = step_index_;
  state.epoch_samples = epoch_samples_;
  state.epoch_loss = epoch_loss_;
  state.optimizer_updates = optimizer_->updates();
  state.arrays.push_back(parameters_);
  for (const std::span<float> array : optimizer_->state()) state.arrays.emplace_back(array.begin(), array.end());
  return write_state(state);
}

Result<> ClassificationSession::restore(std::string_view bytes) {
  const auto state = read_state(bytes);
  if (!state) return forward_error(state);
  if (state->fingerprint != fingerprint_) {
    return fail(ErrorCode::failed_precondition,
                "the checkpoint is of another trial: workload, data set, hyperparameters or seed differ");
  }
  std::vector<std::span<float>> arrays = {parameters_};
  for (const std::span<float> array : optimizer_->state()) arrays.push_back(array);
  bool fits = state->arrays.size() == arrays.size();
  for (std::size_t i = 0; fits && i < arrays.size(); ++i) fits = state->arrays[i].size() == arrays[i].size();
  if (!fits) return fail(ErrorCode::data_loss, "checkpoint: its arrays are not of this model's sizes");
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    std::copy(state->arrays[i].begin(), state->arrays[i].end(), arrays[i].begin());
  }
  optimizer_->set_updates(state->optimizer_updates);
  step_index_ = state->step_index;
  epoch_samples_ = state->epoch_samples;
  epoch_loss_ = state->epoch_loss;
  return {};
}

}  // namespace tandem::actors
