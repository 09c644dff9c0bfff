#include "actors/trial/scripted_compute.hpp"

#include "actors/codec.hpp"
#include "actors/trial/checkpoint_file.hpp"

namespace tandem::actors {

using runtime::make_message;

void ScriptTimerActor::on_start() {
  on<schemas::ScriptOrder>([this](schemas::ScriptOrder::Reader, runtime::Incoming&) {
    auto [delay, then] = std::move(pending_->front());
    pending_->pop_front();
    after(delay, std::move(then));
  });
}

ScriptedCompute::ScriptedCompute(runtime::Runtime& runtime, FileSystem& files, TrialScript script)
    : runtime_(runtime),
      files_(files),
      script_(std::move(script)),
      pending_(std::make_shared<ScriptTimerActor::Pending>()),
      timer_(runtime.spawn<ScriptTimerActor>({}, pending_)) {}

void ScriptedCompute::later(double seconds, std::function<void()> then) {
  pending_->emplace_back(from_seconds(seconds), std::move(then));
  (void)runtime_.send(timer_, make_message<schemas::ScriptOrder>());
}

void ScriptedCompute::open(OpenOrder order) {
  if (script_.opened) script_.opened(order);
  session_ = std::move(order.session);
  step_ = 0;
  std::optional<Error> failure;
  if (!order.checkpoint_file.empty()) {
    if (auto bytes = read_checkpoint(files_, order.checkpoint_file)) {
      step_ = std::stoll(*bytes);
    } else {
      failure = bytes.error();
    }
  }
  later(script_.open_seconds, [this, failure = std::move(failure)] {
    auto opened = make_message<schemas::SessionOpened>();
    if (failure) write_failure(opened->initFailure(), *failure);
    opened->setStepsPerEpoch(script_.steps_per_epoch);
    opened->setStepIndex(step_);
    const auto batch = session_.params.find("batch_size");
    opened->setBatchSize(batch == session_.params.end() ? 1 : std::get<std::int64_t>(batch->second));
    opened->setParameterCount(1000);
    opened->setFlopsPerSample(1e6);
    opened->setActivationBytesPerSample(1e4);
    opened->setInputElements(64);
    (void)runtime_.send(trial_actor_, std::move(opened));
  });
}

void ScriptedCompute::run_window(WindowOrder order) {
  std::vector<double> measured;
  double seconds = 0;
  std::int64_t done = 0;
  while (done < order.steps) {
    const double step_seconds = script_.step_seconds(session_, order.system, step_ + done);
    seconds += step_seconds;
    if (done++ >= order.warmup_steps) measured.push_back(step_seconds);
    if (order.abort_step_seconds > 0 && step_seconds > order.abort_step_seconds) break;
  }
  step_ += done;
  later(seconds, [this, order = std::move(order), measured = std::move(measured), seconds, done] {
    auto outcome = make_message<schemas::WindowOutcome>();
    auto plan = outcome->initPlan();
    plan.setStage(std::string(tuner::to_string(order.stage)).c_str());
    write_parameters(plan.initSystem(static_cast<unsigned>(order.system.size())), order.system);
    plan.setSteps(order.steps);
    plan.setWarmupSteps(order.warmup_steps);
    plan.setAbortStepSeconds(order.abort_step_seconds);
    outcome->setApplied(true);
    outcome->setSteps(done);
    outcome->setSeconds(seconds);
    if (script_.fail_at_epoch > 0 && step_ >= script_.fail_at_epoch * script_.steps_per_epoch) {
      write_failure(outcome->initFailure(), {ErrorCode::internal, "scripted failure"});
    }
    write_numbers(outcome->initStepSeconds(static_cast<unsigned>(measured.size())), measured);
    auto sample = outcome->initSample();
    sample.setSteps(static_cast<std::uint32_t>(done));
    sample.setSeconds(seconds);
    sample.setCpuSeconds(seconds);
    write_numbers(sample.initStepSeconds(static_cast<unsigned>(measured.size())), measured);
    (void)runtime_.send(trial_actor_, std::move(outcome));
  });
}

void ScriptedCompute::finish_epoch(std::string checkpoint_file, std::string obsolete_file) {
  later(0, [this, checkpoint_file = std::move(checkpoint_file), obsolete_file = std::move(obsolete_file)] {
    const Metrics metrics = script_.evaluate(session_, static_cast<int>(step_ / script_.steps_per_epoch));
    auto finished = make_message<schemas::EpochFinished>();
    if (!checkpoint_file.empty()) {
      if (auto written = write_checkpoint(files_, checkpoint_file, std::to_string(step_)); !written) {
        write_failure(finished->initFailure(), written.error());
        finished->setCheckpointFailed(true);
      }
    }
    if (!obsolete_file.empty()) (void)files_.remove(obsolete_file);
    write_values(finished->initValues(static_cast<unsigned>(metrics.size())), metrics);
    (void)runtime_.send(trial_actor_, std::move(finished));
  });
}

void ScriptedCompute::measure_test() {
  later(0, [this] {
    const Metrics metrics = script_.evaluate(session_, session_.epochs);
    auto test = make_message<schemas::TestMetrics>();
    write_values(test->initValues(static_cast<unsigned>(metrics.size())), metrics);
    (void)runtime_.send(trial_actor_, std::move(test));
  });
}

}  // namespace tandem::actors
