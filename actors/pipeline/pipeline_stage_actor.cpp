#include "actors/pipeline/pipeline_stage_actor.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "actors/codec.hpp"
#include "actors/limits.hpp"

namespace tandem::actors {

using runtime::Incoming;
using runtime::make_message;

PipelineStageActor::PipelineStageActor(runtime::ActorRef profiler) : profiler_(profiler) {}

void PipelineStageActor::on_start() {
  on<schemas::PipelineBegin>([this](schemas::PipelineBegin::Reader message, Incoming& in) { begin(message, in); });
  on<schemas::WindowOutcome>(
      [this](schemas::WindowOutcome::Reader outcome, Incoming& in) { window_done(outcome, in); });
}

void PipelineStageActor::begin(schemas::PipelineBegin::Reader message, Incoming& in) {
  settings_.candidates = read_configurations(message.getCandidates());
  settings_.reference = read_parameters(message.getReference());
  settings_.total_steps = message.getTotalSteps();
  settings_.steps_per_epoch = message.getStepsPerEpoch();
  settings_.budget_share = message.getProbeBudget();
  settings_.minimize_energy = message.getMinimizeEnergy();
  key_ = read_key(message.getKey());
  ground_truth_ = runtime::from_address(message.getGroundTruth());
  const std::string saved = message.getSaved().cStr();
  if (saved.empty() || !restore(saved)) machine_.emplace(settings_);
  answer_ = in.defer();
  if (machine_->awaiting_match()) return ask_ground_truth();
  answer_next();
}

void PipelineStageActor::window_done(schemas::WindowOutcome::Reader outcome, Incoming& in) {
  if (!machine_) return in.reply_error({ErrorCode::failed_precondition, "no pipeline has begun"});
  answer_ = in.defer();
  const auto plan = outcome.getPlan();
  tuner::WindowRequest request = machine_->next();
  request.steps = static_cast<int>(plan.getSteps());
  tuner::WindowResult result;
  result.steps = static_cast<int>(outcome.getSteps());
  result.step_seconds = read_numbers(outcome.getStepSeconds());
  result.seconds = outcome.getSeconds();
  result.energy_joules = outcome.getEnergyJoules();
  result.applied = outcome.getApplied();
  result.apply_error = outcome.getApplyError().cStr();
  if (!result.applied)
    log().warning("system parameters not applied, the trial goes on as before: {}", result.apply_error);
  machine_->completed(request, result);
  share_findings();
  if (machine_->awaiting_match()) return match(outcome.getSample());
  answer_next();
}

void PipelineStageActor::match(schemas::WindowSample::Reader sample) {
  ask<schemas::Profile>(profiler_, make_message<schemas::WindowSample>(sample), kHostAskDeadline, [this](auto profile) {
    if (!profile) {
      log().warning("no profile: {}", profile.error().message());
      machine_->matched(std::nullopt);
      return answer_next();
    }
    profile_ = read_profile(profile->root());
    ask_ground_truth();
  });
}

void PipelineStageActor::ask_ground_truth() {
  auto question = make_message<schemas::GroundTruthQuestion>();
  write_profile(question->initProfile(), profile_);
  write_key(question->initKey(), key_);
  write_configurations(question->initAllowed(static_cast<unsigned>(settings_.candidates.size())), settings_.candidates);
  ask<schemas::GroundTruthAnswer>(ground_truth_, std::move(question), kGroundTruthDeadline, [this](auto answer) {
    std::optional<tuner::GroundTruthHit> hit;
    if (!answer) {
      log().warning("the ground truth does not answer, which counts as a miss: {}", answer.error().message());
    } else if (const auto found = answer->root(); found.getHit()) {
      hit = tuner::GroundTruthHit{found.getEntry(), read_parameters(found.getBest()), found.getExpectedStepSeconds(),
                                  found.getDefaultStepSeconds()};
    }
    hit_entry_ = hit ? hit->entry : -1;
    machine_->matched(hit);
    answer_next();
  });
}

void PipelineStageActor::share_findings() {
  if (const auto wrong = machine_->take_contradiction()) {
    contradicted_ = true;
    auto contradiction = make_message<schemas::GroundTruthContradiction>();
    contradiction->setEntry(*wrong);
    (void)send(ground_truth_, std::move(contradiction));  // advice only: a lost one costs one more probe some day
  }
  if (!machine_->take_finding() || profile_.values.empty()) return;
  auto finding = make_message<schemas::GroundTruthFinding>();
  write_profile(finding->initProfile(), profile_);
  write_key(finding->initKey(), key_);
  const auto& chosen = machine_->chosen();
  write_parameters(finding->initBest(static_cast<unsigned>(chosen.size())), chosen);
  finding->setBestStepSeconds(machine_->chosen_step_seconds());
  finding->setDefaultStepSeconds(machine_->default_step_seconds());
  if (auto sent = send(ground_truth_, std::move(finding)); !sent) {
    log().warning("a finding is lost: {}", sent.error().message());
  }
}

void PipelineStageActor::answer_next() {
  auto next = make_message<schemas::PipelineNext>();
  const tuner::WindowRequest request = machine_->next();
  auto plan = next->initPlan();
  plan.setStage(std::string(tuner::to_string(request.stage)).c_str());
  write_parameters(plan.initSystem(static_cast<unsigned>(request.system.size())), request.system);
  plan.setSteps(request.steps);
  plan.setWarmupSteps(request.warmup_steps);
  plan.setAbortStepSeconds(request.abort_step_seconds);
  next->setSaved(save().c_str());
  const auto records = machine_->take_records();
  write_stages(next->initStages(static_cast<unsigned>(records.size())), records);
  write_tuned_into(*next);
  answer_.reply(std::move(next));
}

void PipelineStageActor::write_tuned_into(schemas::PipelineNext::Builder next) const {
  if (machine_->stage() != tuner::Stage::exploit) return;
  tuner::TrialTuned tuned;
  tuned.system = machine_->chosen();
  tuned.step_seconds = machine_->chosen_step_seconds();
  tuned.default_step_seconds = machine_->default_step_seconds();
  tuned.probe_steps = machine_->probe_steps();
  tuned.total_steps = settings_.total_steps;
  tuned.excess_seconds = machine_->excess_seconds();
  tuned.hit = hit_entry_ >= 0 && !contradicted_;
  write_tuned(next.initTuned(), tuned);
}

std::string PipelineStageActor::save() const {
  return nlohmann::json{{"machine", machine_->save()},     {"profile_version", profile_.version},
                        {"profile_names", profile_.names}, {"profile_values", profile_.values},
                        {"hit_entry", hit_entry_},         {"contradicted", contradicted_}}
      .dump();
}

bool PipelineStageActor::restore(const std::string& saved) {
  const auto document = nlohmann::json::parse(saved, nullptr, false);
  if (!document.is_object() || !document.contains("machine")) {
    log().warning("the saved pipeline state is damaged; the pipeline begins anew");
    return false;
  }
  auto machine = tuner::StageMachine::restore(settings_, document.value("machine", std::string()));
  if (!machine) {
    log().warning("the pipeline begins anew: {}", machine.error().message());
    return false;
  }
  profile_.version = document.value("profile_version", 1);
  profile_.names = document.value("profile_names", std::vector<std::string>{});
  profile_.values = document.value("profile_values", std::vector<double>{});
  hit_entry_ = document.value("hit_entry", std::int64_t{-1});
  contradicted_ = document.value("contradicted", false);
  machine_.emplace(std::move(*machine));
  return true;
}

}  // namespace tandem::actors
