#include "actors/trial/trial_actor.hpp"

#include <algorithm>
#include <utility>

#include "actors/codec.hpp"
#include "actors/limits.hpp"
#include "actors/trial/checkpoint_file.hpp"

namespace tandem::actors {

using runtime::Incoming;
using runtime::make_message;

TrialActor::TrialActor(Parts parts) : parts_(std::move(parts)) {}

void TrialActor::on_start() {
  parts_.compute.attach(self());
  on<schemas::StartTrial>([this](schemas::StartTrial::Reader start, Incoming&) {
    if (order_) return;  // one trial per host: a second order is a defect of the worker, and is not obeyed
    order_ = read_order(start);
    monitor(order_->study);
    open_session();
  });
  on<schemas::MeasureTest>([this](schemas::MeasureTest::Reader request, Incoming& in) {
    if (order_) return in.reply_error({ErrorCode::failed_precondition, "this host runs a trial already"});
    order_ = read_order(request.getStart());
    test_answer_ = in.defer();
    open_session();
  });
  on<schemas::SessionOpened>([this](schemas::SessionOpened::Reader opened, Incoming&) { on_opened(opened); });
  on<schemas::WindowOutcome>([this](schemas::WindowOutcome::Reader outcome, Incoming&) { on_window(outcome); });
  on<schemas::EpochFinished>([this](schemas::EpochFinished::Reader epoch, Incoming&) { on_epoch(epoch); });
  on<schemas::TestMetrics>([this](schemas::TestMetrics::Reader test, Incoming&) {
    if (!test_answer_) return;
    auto answer = make_message<schemas::TestMetrics>();
    write_values(answer->initValues(test.getValues().size()), read_values(test.getValues()));
    if (test.hasFailure()) answer->setFailure(test.getFailure());
    (void)test_answer_->reply(std::move(answer));
    test_answer_.reset();
  });
}

TrialActor::Order TrialActor::read_order(schemas::StartTrial::Reader start) {
  Order order;
  order.trial = start.getTrial();
  order.attempt = start.getAttempt();
  order.session.workload = start.getWorkload().cStr();
  order.session.dataset = start.getDataset().cStr();
  order.session.data_directory = start.getDataDirectory().cStr();
  order.session.params = read_parameters(start.getParams());
  order.session.seed = start.getSeed();
  order.session.epochs = static_cast<int>(start.getEpochs());
  order.from_epoch = static_cast<int>(start.getFromStep());
  order.checkpoint_directory = start.getCheckpointDirectory().cStr();
  for (const auto core : start.getCores()) order.cores.push_back(static_cast<int>(core));
  order.pipeline = start.getPipeline();
  order.framework_defaults = start.getFrameworkDefaults();
  order.minimize_energy = start.getMinimizeEnergy();
  order.probe_budget = start.getProbeBudget();
  order.candidates = read_configurations(start.getCandidates());
  order.reference = read_parameters(start.getReference());
  order.pipeline_state = start.getPipelineState().cStr();
  order.study = runtime::from_address(start.getStudyActor());
  order.ground_truth = runtime::from_address(start.getGroundTruthActor());
  return order;
}

void TrialActor::open_session() {
  started_at_ = clock().now();
  OpenOrder open;
  open.session = order_->session;
  if (order_->from_epoch > 0) open.checkpoint_file = checkpoint_path(order_->checkpoint_directory, order_->from_epoch);
  if (!order_->framework_defaults) open.cores = order_->cores;
  parts_.compute.open(std::move(open));
}

void TrialActor::on_opened(schemas::SessionOpened::Reader opened) {
  if (opened.hasFailure()) {
    const Error error = read_failure(opened.getFailure());
    if (!test_answer_) return end(error);
    test_answer_->reply_error(error);
    return test_answer_.reset();
  }
  if (test_answer_) return parts_.compute.measure_test();
  steps_per_epoch_ = opened.getStepsPerEpoch();
  step_ = opened.getStepIndex();
  features_.parameter_count = opened.getParameterCount();
  features_.flops_per_sample = opened.getFlopsPerSample();
  features_.activation_bytes_per_sample = opened.getActivationBytesPerSample();
  features_.input_elements = opened.getInputElements();
  features_.batch_size = opened.getBatchSize();
  if (order_->pipeline) return begin_pipeline();
  if (!order_->candidates.empty()) plan_.system = order_->candidates.front();
  plan_.steps = steps_per_epoch_;
  continue_epoch();
}

void TrialActor::begin_pipeline() {
  auto begin = make_message<schemas::PipelineBegin>();
  write_configurations(begin->initCandidates(static_cast<unsigned>(order_->candidates.size())), order_->candidates);
  write_parameters(begin->initReference(static_cast<unsigned>(order_->reference.size())), order_->reference);
  begin->setTotalSteps(steps_per_epoch_ * order_->session.epochs);
  begin->setStepsPerEpoch(steps_per_epoch_);
  begin->setProbeBudget(order_->probe_budget);
  begin->setMinimizeEnergy(order_->minimize_energy);
  begin->setSaved(order_->pipeline_state.c_str());
  write_key(begin->initKey(), {features_.batch_size, static_cast<std::int64_t>(order_->cores.size()),
                               order_->minimize_energy ? "energy" : "time", parts_.host_class});
  runtime::to_address(order_->ground_truth, begin->initGroundTruth());
  ask<schemas::PipelineNext>(parts_.pipeline, std::move(begin), kHostAskDeadline, [this](auto next) {
    if (!next) return end(next.error());
    on_plan(next->root());
  });
}

void TrialActor::on_plan(schemas::PipelineNext::Reader next) {
  const auto plan = next.getPlan();
  plan_.stage = tuner::Stage::exploit;
  for (const auto stage : {tuner::Stage::profile, tuner::Stage::match, tuner::Stage::probe}) {
    if (tuner::to_string(stage) == plan.getStage().cStr()) plan_.stage = stage;
  }
  plan_.system = read_parameters(plan.getSystem());
  plan_.steps = plan.getSteps();
  plan_.warmup_steps = plan.getWarmupSteps();
  plan_.abort_step_seconds = plan.getAbortStepSeconds();
  pipeline_state_ = next.getSaved().cStr();
  auto stages = read_stages(next.getStages());
  stages_.insert(stages_.end(), std::make_move_iterator(stages.begin()), std::make_move_iterator(stages.end()));
  if (next.hasTuned()) tuned_ = read_tuned(next.getTuned());
  continue_epoch();
}

void TrialActor::continue_epoch() {
  const std::int64_t in_epoch = step_ % steps_per_epoch_;
  const bool epoch_done = in_epoch == 0 && epoch_seconds_ > 0;
  if (!epoch_done) return run_window();
  const int epoch = static_cast<int>(step_ / steps_per_epoch_);
  if (order_->checkpoint_directory.empty()) return parts_.compute.finish_epoch({}, {});
  // The checkpoint before last: the last durable report may be the one before the report that is about to be sent.
  std::string obsolete;
  if (epoch >= 3) obsolete = checkpoint_path(order_->checkpoint_directory, epoch - 2);
  parts_.compute.finish_epoch(checkpoint_path(order_->checkpoint_directory, epoch), std::move(obsolete));
}

void TrialActor::run_window() {
  WindowOrder window = plan_;
  const std::int64_t left = steps_per_epoch_ - step_ % steps_per_epoch_;
  window.steps = std::clamp<std::int64_t>(window.steps, 1, left);
  if (start_seconds_ == 0) window.steps = std::min<std::int64_t>(window.steps, kFirstWindowSteps);
  parts_.compute.run_window(std::move(window));
}

void TrialActor::on_window(schemas::WindowOutcome::Reader outcome) {
  if (outcome.hasFailure()) return end(read_failure(outcome.getFailure()));
  step_ += outcome.getSteps();
  epoch_seconds_ += outcome.getSeconds();
  epoch_joules_ += outcome.getEnergyJoules();
  if (start_seconds_ == 0 && outcome.getSteps() > 0) {
    start_seconds_ = to_seconds(clock().now() - started_at_) - outcome.getSeconds() + outcome.getSetupSeconds();
  }
  if (outcome.getSteps() > 0) {
    tell_progress(read_parameters(outcome.getPlan().getSystem()),
                  outcome.getSeconds() / static_cast<double>(outcome.getSteps()));
  }
  if (order_->pipeline) return tell_pipeline(outcome);
  if (!outcome.getApplied())
    return end(Error(ErrorCode::failed_precondition, outcome.getApplyError().cStr()).within("system parameters"));
  continue_epoch();
}

void TrialActor::tell_pipeline(schemas::WindowOutcome::Reader outcome) {
  auto told = make_message<schemas::WindowOutcome>();
  told.set(outcome);
  auto sample = told->getSample();
  sample.setBatchSize(features_.batch_size);
  sample.setParameterCount(features_.parameter_count);
  sample.setFlopsPerSample(features_.flops_per_sample);
  sample.setActivationBytesPerSample(features_.activation_bytes_per_sample);
  sample.setInputElements(features_.input_elements);
  ask<schemas::PipelineNext>(parts_.pipeline, std::move(told), kHostAskDeadline, [this](auto next) {
    if (!next) return end(next.error());
    on_plan(next->root());
  });
}

void TrialActor::tell_progress(const tuner::Parameters& system, double step_seconds) {
  const MonotonicTime now = clock().now();
  if (now - progress_told_at_ < kProgressInterval && plan_.stage == told_stage_) return;
  progress_told_at_ = now;
  told_stage_ = plan_.stage;
  auto progress = make_message<schemas::TrialProgress>();
  progress->setTrial(order_->trial);
  progress->setAttempt(order_->attempt);
  progress->setStep(step_);
  progress->setTotalSteps(steps_per_epoch_ * order_->session.epochs);
  progress->setStage(std::string(tuner::to_string(plan_.stage)).c_str());
  progress->setStepSeconds(step_seconds);
  write_parameters(progress->initSystem(static_cast<unsigned>(system.size())), system);
  (void)send(order_->study, std::move(progress));  // a watcher's view only: one lost is one the next replaces
}

void TrialActor::on_epoch(schemas::EpochFinished::Reader epoch) {
  if (epoch.hasFailure()) return end(read_failure(epoch.getFailure()), epoch.getCheckpointFailed());
  report(read_values(epoch.getValues()));
}

void TrialActor::report(const tuner::Values& values) {
  auto message = make_message<schemas::TrialReport>();
  message->setTrial(order_->trial);
  message->setAttempt(order_->attempt);
  message->setStep(static_cast<std::uint32_t>(step_ / steps_per_epoch_));
  write_values(message->initValues(static_cast<unsigned>(values.size())), values);
  message->setSeconds(epoch_seconds_);
  message->setEnergyJoules(epoch_joules_);
  message->setPipelineState(pipeline_state_.c_str());
  write_stages(message->initStages(static_cast<unsigned>(stages_.size())), stages_);
  if (tuned_) write_tuned(message->initTuned(), *tuned_);
  message->setStartSeconds(start_seconds_ > 0 ? start_seconds_ : 0);
  stages_.clear();
  epoch_seconds_ = 0;
  epoch_joules_ = 0;
  start_seconds_ = -1;  // told once
  ask<schemas::TrialDecision>(order_->study, std::move(message), kReportDeadline, [this](auto decision) {
    if (!decision) return end(decision.error().within("report"));
    decided(decision->root().getDecision().cStr());
  });
}

void TrialActor::decided(const std::string& decision) {
  if (decision != tuner::to_string(tuner::Decision::proceed)) return end(std::nullopt);
  continue_epoch();
}

void TrialActor::end(const std::optional<Error>& failure, bool checkpoint_failed) {
  auto ended = make_message<schemas::TrialEnded>();
  ended->setTrial(order_->trial);
  ended->setAttempt(order_->attempt);
  if (failure) write_failure(ended->initFailure(), *failure);
  ended->setCheckpointFailed(checkpoint_failed);
  (void)send(order_->study, std::move(ended));
}

}  // namespace tandem::actors
