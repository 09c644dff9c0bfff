#include "actors/ground_truth/ground_truth_actor.hpp"

#include <utility>

#include "actors/codec.hpp"

namespace tandem::actors {

using runtime::Incoming;

GroundTruthActor::GroundTruthActor(tuner::GroundTruth ground_truth, Save save)
    : ground_truth_(std::move(ground_truth)), save_(std::move(save)) {}

void GroundTruthActor::on_start() {
  on<schemas::GroundTruthQuestion>([this](schemas::GroundTruthQuestion::Reader question, Incoming& in) {
    const auto hit = ground_truth_.match(read_profile(question.getProfile()), read_key(question.getKey()),
                                         read_configurations(question.getAllowed()));
    auto answer = runtime::make_message<schemas::GroundTruthAnswer>();
    answer->setHit(hit.has_value());
    if (hit) {
      answer->setEntry(hit->entry);
      answer->setExpectedStepSeconds(hit->expected_step_seconds);
      answer->setDefaultStepSeconds(hit->default_step_seconds);
      write_parameters(answer->initBest(static_cast<unsigned>(hit->best.size())), hit->best);
    }
    in.reply(std::move(answer));
  });
  on<schemas::GroundTruthFinding>([this](schemas::GroundTruthFinding::Reader finding, Incoming&) {
    tuner::GroundTruthEntry entry;
    entry.profile = read_profile(finding.getProfile());
    entry.key = read_key(finding.getKey());
    entry.best = read_parameters(finding.getBest());
    entry.best_step_seconds = finding.getBestStepSeconds();
    entry.default_step_seconds = finding.getDefaultStepSeconds();
    ground_truth_.add(std::move(entry));
    save();
  });
  on<schemas::GroundTruthContradiction>([this](schemas::GroundTruthContradiction::Reader contradiction, Incoming&) {
    ground_truth_.contradict(contradiction.getEntry());
    save();
  });
}

void GroundTruthActor::save() {
  if (auto saved = save_(ground_truth_.to_json()); !saved) {
    log().warning("the ground truth is not saved: {}", saved.error().message());
  }
}

}  // namespace tandem::actors
