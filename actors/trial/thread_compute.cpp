#include "actors/trial/thread_compute.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "actors/codec.hpp"
#include "actors/trial/checkpoint_file.hpp"
#include "runtime/host/affinity.hpp"

namespace tandem::actors {

using runtime::make_message;

namespace {

/// What the first of a window's steps took beyond the quickest of those after it: fresh pages, new primitives.
double first_step_excess(double first, double quickest_after) {
  return std::isfinite(quickest_after) ? std::max(0.0, first - quickest_after) : 0.0;
}

/// A step right after a change pays for fresh pages and new primitives; only far beyond that is it hopeless.
constexpr double kWarmupAllowance = 3.0;

}  // namespace

ThreadCompute::ThreadCompute(Parts parts) : parts_(parts) {}

void ThreadCompute::open(OpenOrder order) { push(std::move(order)); }
void ThreadCompute::run_window(WindowOrder order) { push(std::move(order)); }
void ThreadCompute::finish_epoch(std::string checkpoint_file, std::string obsolete_file) {
  push(EpochOrder{std::move(checkpoint_file), std::move(obsolete_file)});
}
void ThreadCompute::measure_test() { push(TestOrder{}); }

void ThreadCompute::push(Order order) {
  {
    const std::lock_guard lock(mutex_);
    order_ = std::move(order);
  }
  arrived_.notify_one();
}

ThreadCompute::Order ThreadCompute::pop() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return quitting_ || order_.has_value(); });
  if (quitting_) return QuitOrder{};
  Order order = std::move(*order_);
  order_.reset();
  return order;
}

void ThreadCompute::quit() {
  {
    const std::lock_guard lock(mutex_);
    quitting_ = true;
  }
  arrived_.notify_one();
}

bool ThreadCompute::quitting() const {
  const std::lock_guard lock(mutex_);
  return quitting_;
}

void ThreadCompute::run() {
  for (;;) {
    Order order = pop();
    if (std::holds_alternative<QuitOrder>(order)) return;
    std::visit(
        [this](auto& concrete) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(concrete)>, QuitOrder>) carry_out(concrete);
        },
        order);
  }
}

Result<> ThreadCompute::start_session(OpenOrder& order) {
  cores_ = std::move(order.cores);
  if (!cores_.empty()) {
    if (auto bound = runtime::set_process_affinity(cores_); !bound) return forward_error(bound, "leased cores");
  }
  auto session = parts_.sessions.open(order.session);
  if (!session) return forward_error(session);
  if (!order.checkpoint_file.empty()) {
    auto bytes = read_checkpoint(parts_.files, order.checkpoint_file);
    if (!bytes) return forward_error(bytes);
    if (auto restored = (*session)->restore(*bytes); !restored) return forward_error(restored, order.checkpoint_file);
  }
  session_ = std::move(*session);
  return {};
}

void ThreadCompute::carry_out(OpenOrder& order) {
  auto message = make_message<schemas::SessionOpened>();
  if (auto started = start_session(order); !started) {
    write_failure(message->initFailure(), started.error());
  } else {
    const ModelFeatures features = session_->features();
    message->setStepsPerEpoch(session_->steps_per_epoch());
    message->setStepIndex(session_->step_index());
    message->setParameterCount(features.parameter_count);
    message->setFlopsPerSample(features.flops_per_sample);
    message->setActivationBytesPerSample(features.activation_bytes_per_sample);
    message->setInputElements(features.input_elements);
    message->setBatchSize(features.batch_size);
  }
  (void)parts_.runtime.send(trial_actor_, std::move(message));
}

Result<std::vector<int>> ThreadCompute::processors_for(const tuner::Parameters& system) const {
  const auto found = system.find("cores");
  if (found == system.end() || cores_.empty()) return std::vector<int>{};
  const auto* wanted = std::get_if<std::int64_t>(&found->second);
  if (wanted == nullptr || *wanted < 1 || *wanted > static_cast<std::int64_t>(cores_.size())) {
    return fail(ErrorCode::invalid_argument, "cores: the lease allows 1 to {}", cores_.size());
  }
  return std::vector<int>(cores_.begin(), cores_.begin() + *wanted);
}

Result<> ThreadCompute::apply(const tuner::Parameters& system) {
  if (system == applied_ || system.empty()) return {};
  const auto subset = processors_for(system);
  if (!subset) return forward_error(subset);
  // Threads that the session makes begin where this one may run.
  if (!subset->empty()) {
    if (auto bound = runtime::set_process_affinity(*subset); !bound) return forward_error(bound, "cores");
  }
  auto in_force = session_->apply(system);
  if (!in_force) return forward_error(in_force);
  if (!subset->empty()) {
    if (auto placed = session_->place(*subset); !placed) return forward_error(placed, "cores");
  }
  applied_ = system;
  return {};
}

void ThreadCompute::carry_out(WindowOrder& order) {
  auto message = make_message<schemas::WindowOutcome>();
  auto plan = message->initPlan();
  plan.setStage(std::string(tuner::to_string(order.stage)).c_str());
  write_parameters(plan.initSystem(static_cast<unsigned>(order.system.size())), order.system);
  plan.setSteps(order.steps);
  plan.setWarmupSteps(order.warmup_steps);
  plan.setAbortStepSeconds(order.abort_step_seconds);

  const MonotonicTime begin = parts_.clock.now();
  if (auto applied = apply(order.system); !applied) {
    message->setApplied(false);
    message->setApplyError(applied.error().message().c_str());
    message->setSeconds(to_seconds(parts_.clock.now() - begin));
    (void)parts_.runtime.send(trial_actor_, std::move(message));
    return;
  }

  const double apply_seconds = to_seconds(parts_.clock.now() - begin);

  std::vector<double> measured;
  std::int64_t done = 0;
  double first_step = 0;
  double quickest_after = std::numeric_limits<double>::infinity();
  std::optional<Error> failure;
  const auto energy_before = energy_.read();
  sampler_.begin();
  MonotonicTime step_begin = parts_.clock.now();
  while (done < order.steps && !quitting()) {
    if (auto stepped = session_->step(); !stepped) {
      failure = stepped.error();
      break;
    }
    const MonotonicTime step_end = parts_.clock.now();
    const double step_seconds = to_seconds(step_end - step_begin);
    step_begin = step_end;
    if (done == 0) {
      first_step = step_seconds;
    } else {
      quickest_after = std::min(quickest_after, step_seconds);
    }
    const bool warm = done++ >= order.warmup_steps;
    if (warm) measured.push_back(step_seconds);
    if (order.abort_step_seconds > 0 && step_seconds > order.abort_step_seconds * (warm ? 1.0 : kWarmupAllowance)) {
      if (!warm) measured.push_back(step_seconds);  // hopeless already: what is known of it must be told
      break;
    }
  }
  const runtime::ResourceUse use = sampler_.end();

  message->setApplied(true);
  message->setSteps(done);
  message->setSeconds(to_seconds(parts_.clock.now() - begin));
  message->setSetupSeconds(apply_seconds + first_step_excess(first_step, quickest_after));
  message->setEnergyJoules(energy_.read().joules - energy_before.joules);
  write_numbers(message->initStepSeconds(static_cast<unsigned>(measured.size())), measured);
  if (failure) write_failure(message->initFailure(), *failure);

  auto sample = message->initSample();
  sample.setSteps(static_cast<std::uint32_t>(done));
  sample.setSeconds(to_seconds(parts_.clock.now() - begin));
  write_numbers(sample.initStepSeconds(static_cast<unsigned>(measured.size())), measured);
  sample.setCpuSeconds(use.user_seconds);
  sample.setSystemSeconds(use.system_seconds);
  sample.setMinorFaults(use.minor_faults);
  sample.setMajorFaults(use.major_faults);
  sample.setVoluntarySwitches(use.voluntary_switches);
  sample.setInvoluntarySwitches(use.involuntary_switches);
  sample.setRunQueueWaitSeconds(use.run_queue_wait_seconds);
  write_values(sample.initEvents(static_cast<unsigned>(use.events.size())), {use.events.begin(), use.events.end()});
  (void)parts_.runtime.send(trial_actor_, std::move(message));
}

void ThreadCompute::carry_out(EpochOrder& order) {
  auto message = make_message<schemas::EpochFinished>();
  const MonotonicTime begin = parts_.clock.now();
  auto metrics = session_->evaluate();
  const MonotonicTime evaluated = parts_.clock.now();
  Result<> outcome;
  if (!metrics) {
    outcome = forward_error(metrics);
  } else if (!order.checkpoint_file.empty()) {
    const auto bytes = session_->save();
    if (!bytes) {
      outcome = forward_error(bytes);
    } else {
      outcome = write_checkpoint(parts_.files, order.checkpoint_file, *bytes);
      message->setCheckpointFailed(!outcome);
    }
    if (outcome && !order.obsolete_file.empty()) (void)parts_.files.remove(order.obsolete_file);
  }
  if (!outcome) {
    write_failure(message->initFailure(), outcome.error());
  } else {
    write_values(message->initValues(static_cast<unsigned>(metrics->size())), *metrics);
  }
  message->setEvaluationSeconds(to_seconds(evaluated - begin));
  message->setCheckpointSeconds(to_seconds(parts_.clock.now() - evaluated));
  (void)parts_.runtime.send(trial_actor_, std::move(message));
}

void ThreadCompute::carry_out(TestOrder&) {
  auto message = make_message<schemas::TestMetrics>();
  if (auto metrics = session_->evaluate_test(); !metrics) {
    write_failure(message->initFailure(), metrics.error());
  } else {
    write_values(message->initValues(static_cast<unsigned>(metrics->size())), *metrics);
  }
  (void)parts_.runtime.send(trial_actor_, std::move(message));
}

}  // namespace tandem::actors
