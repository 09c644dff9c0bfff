#include "tools/cli/documents.hpp"

#include "tuner/space/value_json.hpp"

namespace tandem::tools {
namespace {

using nlohmann::json;

json report_document(const tuner::Report& report) {
  return {{"step", report.step},
          {"values", tuner::numbers_to_json(report.values)},
          {"seconds", tuner::number_to_json(report.seconds)}};
}

json stage_document(const tuner::StageRecord& record) {
  return {{"stage", tuner::to_string(record.stage)},
          {"from_step", record.from_step},
          {"to_step", record.to_step},
          {"seconds", tuner::number_to_json(record.seconds)},
          {"system", tuner::to_json(record.system)}};
}

json tuned_document(const tuner::TrialTuned& tuned) {
  return {{"step_seconds", tuner::number_to_json(tuned.step_seconds)},
          {"default_step_seconds", tuner::number_to_json(tuned.default_step_seconds)},
          {"probe_steps", tuned.probe_steps},
          {"total_steps", tuned.total_steps},
          {"excess_seconds", tuner::number_to_json(tuned.excess_seconds)},
          {"hit", tuned.hit}};
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

std::string_view state_name(const tuner::Trial& trial) {
  return tuner::to_string(trial.state == tuner::TrialState::waiting ? tuner::TrialState::running : trial.state);
}

const tuner::Parameters& system_of(const tuner::Trial& trial) {
  if (trial.tuned) return trial.tuned->system;
  if (!trial.stages.empty()) return trial.stages.back().system;
  return trial.system;
}

json trial_document(const tuner::Trial& trial) {
  json document = {{"trial", trial.id},
                   {"state", state_name(trial)},
                   {"params", tuner::to_json(trial.params)},
                   {"system", tuner::to_json(system_of(trial))},
                   {"reports", json::array()},
                   {"stages", json::array()},
                   {"attempts", trial.attempts},
                   {"worker", trial.worker},
                   {"error", trial.error}};
  for (const auto& report : trial.reports) document["reports"].push_back(report_document(report));
  for (const auto& record : trial.stages) document["stages"].push_back(stage_document(record));
  if (trial.tuned) document["tuned"] = tuned_document(*trial.tuned);
  if (!trial.test_values.empty()) document["test"] = tuner::numbers_to_json(trial.test_values);
  return document;
}

json best_document(const tuner::Study& study, const tuner::BestTrial& best) {
  tuner::Values objectives;
  for (const auto& objective : study.spec().objectives) {
    const auto found = best.values.find(objective.name);
    if (found != best.values.end()) objectives.insert(*found);
  }
  json document = {{"trial", best.trial}, {"step", best.step}, {"objectives", tuner::numbers_to_json(objectives)}};
  const tuner::Trial* trial = study.find(best.trial);
  document["params"] = tuner::to_json(trial != nullptr ? trial->params : tuner::Parameters{});
  document["system"] = tuner::to_json(trial != nullptr ? system_of(*trial) : tuner::Parameters{});
  if (trial != nullptr && !trial->test_values.empty()) document["test"] = tuner::numbers_to_json(trial->test_values);
  return document;
}

json study_document(const tuner::Study& study, std::string_view energy_source) {
  const tuner::StudyTotals totals = tuner::totals(study);
  json document = {{"study", study.spec().name},
                   {"state", study.state()},
                   {"seed", study.seed()},
                   {"trials",
                    {{"total", study.trials().size()},
                     {"completed", totals.completed},
                     {"stopped", totals.stopped},
                     {"failed", totals.failed}}},
                   {"best", nullptr},
                   {"pareto", json::array()},
                   {"tuning_seconds", tuner::number_to_json(study.tuning_seconds())},
                   {"training_seconds", tuner::number_to_json(totals.best_training_seconds)},
                   {"total_training_seconds", tuner::number_to_json(totals.total_training_seconds)},
                   {"energy_joules", tuner::number_to_json(totals.energy_joules)},
                   {"energy_source", energy_source},
                   {"probe",
                    {{"steps", totals.probe_steps},
                     {"share", share(static_cast<double>(totals.probe_steps), static_cast<double>(totals.total_steps))},
                     {"excess_seconds", tuner::number_to_json(totals.excess_seconds)},
                     {"excess_share", share(totals.excess_seconds, totals.total_training_seconds)},
                     {"hits", totals.hits},
                     {"misses", totals.misses}}}};
  if (const auto best = study.best()) document["best"] = best_document(study, *best);
  if (study.spec().objectives.size() > 1) {
    for (const auto& member : study.pareto()) document["pareto"].push_back(best_document(study, member));
  }
  return document;
}

}  // namespace tandem::tools
