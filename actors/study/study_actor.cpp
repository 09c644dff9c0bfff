#include "actors/study/study_actor.hpp"

#include <utility>

#include "actors/codec.hpp"
#include "actors/limits.hpp"

namespace tandem::actors {

using runtime::Incoming;
using runtime::make_message;
using tuner::Decision;
using tuner::TrialId;

StudyActor::StudyActor(Parts parts)
    : parts_(std::move(parts)),
      launcher_(parts_.study.spec(), parts_.launch),
      checkpoints_(parts_.files, parts_.study, [this](TrialId trial) { return launcher_.checkpoint_directory(trial); }),
      earlier_seconds_(parts_.study.tuning_seconds()) {}

void StudyActor::on_start() {
  began_ = clock().now();
  time_recorded_ = began_;
  on<schemas::TrialReport>([this](schemas::TrialReport::Reader report, Incoming& in) { on_report(report, in); });
  on<schemas::TrialEnded>([this](schemas::TrialEnded::Reader ended, Incoming&) { on_ended(ended); });
  on<schemas::TrialHostLost>([this](schemas::TrialHostLost::Reader lost, Incoming&) { on_host_lost(lost); });
  on<schemas::TrialProgress>([this](schemas::TrialProgress::Reader progress, Incoming&) { on_progress(progress); });
  on<schemas::StopStudy>([this](schemas::StopStudy::Reader, Incoming&) { stop_study(); });
  fill();
  tick();
}

double StudyActor::elapsed_seconds() const { return earlier_seconds_ + to_seconds(clock().now() - began_); }

// ---- starting trials

void StudyActor::fill() {
  if (stopping_ || concluding_ || ended_) return;
  while (static_cast<int>(running_.size()) + placing_ < parts_.slots) {
    auto assignment = parts_.study.next();
    if (!assignment) return abort(assignment.error());
    if (!persist()) return;
    if (!*assignment) break;
    place(std::move(**assignment));
    if (ended_) return;
  }
  if (running_.empty() && placing_ == 0 && parts_.study.done()) conclude();
}

void StudyActor::place(tuner::Assignment assignment) {
  auto request = make_message<schemas::PlaceTrial>();
  request->setStudy(parts_.study.spec().name.c_str());
  request->setTrial(assignment.trial);
  request->setCores(static_cast<std::uint32_t>(launcher_.lease_cores(assignment.system)));
  request->setMemoryBytes(parts_.study.spec().trial.memory_bytes);
  request->setEnvironment(launcher_.environment().c_str());
  ++placing_;
  const MonotonicTime asked_at = clock().now();
  ask<schemas::TrialPlaced>(parts_.worker, std::move(request), kPlaceDeadline,
                            [this, assignment = std::move(assignment), asked_at](auto where) {
                              --placing_;
                              if (!where) return abort(where.error());
                              placed(assignment, asked_at, where->root());
                            });
}

void StudyActor::placed(const tuner::Assignment& assignment, MonotonicTime asked_at,
                        schemas::TrialPlaced::Reader where) {
  if (stopping_ || ended_) return release(where.getLeaseId());
  if (auto made = checkpoints_.prepare(assignment.trial); !made) {
    release(where.getLeaseId());
    return abort_for_storage(made.error());
  }
  if (auto started = parts_.study.started(assignment.trial, where.getWorker().cStr()); !started) {
    return abort(started.error());
  }
  if (!persist()) return;
  Running& running = running_[assignment.trial];
  running.attempt = ++attempts_;
  running.lease = where.getLeaseId();
  running.actor = runtime::from_address(where.getTrialActor());
  running.placing_seconds = to_seconds(clock().now() - asked_at);
  auto start = make_message<schemas::StartTrial>();
  launcher_.write_start(*start, assignment, parts_.study.trial_seed(assignment.trial), running.attempt, where);
  runtime::to_address(self(), start->initStudyActor());
  runtime::to_address(parts_.ground_truth, start->initGroundTruthActor());
  if (auto sent = send(running.actor, std::move(start)); !sent) {
    // Its host has gone just now; the worker tells why.
    log().warning("trial {}: {}", assignment.trial, sent.error().message());
  }
  show();
}

// ---- what trials tell

void StudyActor::on_report(schemas::TrialReport::Reader report, Incoming& in) {
  const TrialId trial = report.getTrial();
  const auto found = running_.find(trial);
  if (found == running_.end() || found->second.attempt != report.getAttempt()) {
    return in.reply_error({ErrorCode::failed_precondition, fmt::format("trial {} does not run in this host", trial)});
  }
  if (report.getStartSeconds() > 0) {
    end_.start_seconds.push_back(found->second.placing_seconds + report.getStartSeconds());
  }
  if (report.hasTuned()) found->second.tuned = read_tuned(report.getTuned());
  auto answer = parts_.study.report(trial, static_cast<int>(report.getStep()), read_values(report.getValues()),
                                    report.getSeconds(), report.getEnergyJoules(), report.getPipelineState().cStr());
  if (!answer) {
    in.reply_error(answer.error());
    return fail_trial(trial, "failed", answer.error().message());
  }
  if (report.getStages().size() > 0) (void)parts_.study.staged(trial, read_stages(report.getStages()));
  const Decision decision = answer->decision;
  if (decision != Decision::proceed && found->second.tuned) {
    auto tuned = *found->second.tuned;
    tuned.trial = trial;
    (void)parts_.study.tuned(std::move(tuned));
  }
  if (!persist()) return;
  auto message = make_message<schemas::TrialDecision>();
  message->setDecision(std::string(tuner::to_string(decision)).c_str());
  in.reply(std::move(message));
  if (decision != Decision::proceed) return finish_trial(trial);
  show();
}

void StudyActor::on_ended(schemas::TrialEnded::Reader ended) {
  const auto found = running_.find(ended.getTrial());
  if (found == running_.end() || found->second.attempt != ended.getAttempt() || !ended.hasFailure()) return;
  const Error error = read_failure(ended.getFailure());
  // No trial could go on there, and none is to blame: the epoch is trained again when the study is resumed.
  if (ended.getCheckpointFailed()) return abort_for_storage(error.within(fmt::format("trial {}", ended.getTrial())));
  fail_trial(ended.getTrial(), error.code() == ErrorCode::resource_exhausted ? "out_of_memory" : "failed",
             error.message());
}

void StudyActor::on_host_lost(schemas::TrialHostLost::Reader lost) {
  const auto found = running_.find(lost.getTrial());
  if (found == running_.end() || found->second.lease != lost.getLeaseId()) return;
  const TrialId trial = lost.getTrial();
  const std::string cause = lost.getCause().cStr(), detail = lost.getDetail().cStr();
  if (cause != runtime::to_string(runtime::DownCause::node_lost) || ++hosts_lost_[trial] > kPlacementRetries) {
    return fail_trial(trial, cause, detail);
  }
  // Not its own doing: it goes on from its last checkpoint in another host.
  log().warning("trial {} lost its host and goes on in another: {}", trial, detail);
  if (auto waits = parts_.study.interrupted(trial); !waits) return abort(waits.error());
  running_.erase(found);
  snapshots_.ended(trial);
  show();
  fill();
}

void StudyActor::on_progress(schemas::TrialProgress::Reader progress) {
  const auto found = running_.find(progress.getTrial());
  if (found == running_.end() || found->second.attempt != progress.getAttempt()) return;
  snapshots_.progressed(progress);
}

void StudyActor::fail_trial(TrialId trial, std::string cause, std::string error) {
  if (ended_) return;
  // A report without the objective fails its trial in the study itself.
  if (const auto* known = parts_.study.find(trial); known != nullptr && known->state == tuner::TrialState::running) {
    log().warning("trial {} failed ({}): {}", trial, cause, error);
    if (auto failed = parts_.study.fail(trial, std::move(cause), std::move(error)); !failed)
      return abort(failed.error());
  }
  if (!persist()) return;
  finish_trial(trial);
}

void StudyActor::finish_trial(TrialId trial) {
  const auto found = running_.find(trial);
  if (found == running_.end()) return;
  release(found->second.lease);
  running_.erase(found);
  snapshots_.ended(trial);
  if (const auto* known = parts_.study.find(trial)) checkpoints_.tidy(*known);
  show();
  fill();
}

void StudyActor::release(std::uint64_t lease) {
  auto message = make_message<schemas::ReleaseTrial>();
  message->setLeaseId(lease);
  message->setKill(true);
  if (auto sent = send(parts_.worker, std::move(message)); !sent) {
    log().warning("a lease was not given back: {}", sent.error().message());
  }
}

void StudyActor::stop_study() {
  if (stopping_ || ended_) return;
  stopping_ = true;
  show("stopping: what was reported is kept; interrupt again to end at once");
  // What runs is kept up to its last report; the epoch under way is trained again when the study is resumed.
  for (const auto& [trial, running] : running_) {
    release(running.lease);
    if (auto waits = parts_.study.interrupted(trial); !waits) log().warning("{}", waits.error().message());
  }
  running_.clear();
  end("stopped");
}

// ---- the end

void StudyActor::conclude() {
  concluding_ = true;
  const auto best = parts_.study.best();
  if (!best) return end("finished");  // with nothing found
  const auto* trial = parts_.study.find(best->trial);
  if (trial != nullptr && trial->test_values.empty()) return measure_test(*best);
  end("finished");
}

void StudyActor::measure_test(const tuner::BestTrial& best) {
  show("measuring the test split");
  auto request = make_message<schemas::PlaceTrial>();
  request->setStudy(parts_.study.spec().name.c_str());
  request->setTrial(best.trial);
  request->setCores(static_cast<std::uint32_t>(launcher_.lease_cores({})));
  request->setMemoryBytes(parts_.study.spec().trial.memory_bytes);
  request->setEnvironment(launcher_.environment().c_str());
  ask<schemas::TrialPlaced>(parts_.worker, std::move(request), kPlaceDeadline, [this, best](auto where) {
    if (!where) return abort(where.error());
    const auto placed = where->root();
    const std::uint64_t lease = placed.getLeaseId();
    tuner::Assignment assignment;
    assignment.trial = best.trial;
    assignment.params = parts_.study.find(best.trial)->params;
    assignment.from_step = best.step;
    auto measure = make_message<schemas::MeasureTest>();
    launcher_.write_start(measure->initStart(), assignment, parts_.study.trial_seed(best.trial), 0, placed);
    ask<schemas::TestMetrics>(runtime::from_address(placed.getTrialActor()), std::move(measure), kTestDeadline,
                              [this, best, lease](auto metrics) {
                                release(lease);
                                if (!metrics) return abort(metrics.error().within("test split"));
                                const auto root = metrics->root();
                                if (root.hasFailure()) return end_without_test(read_failure(root.getFailure()));
                                if (auto kept = parts_.study.test_measured(best.trial, read_values(root.getValues()));
                                    !kept) {
                                  return abort(kept.error());
                                }
                                end("finished");
                              });
  });
}

void StudyActor::end_without_test(const Error& why) {
  if (ended_) return;
  // What tuning found stands; a lost checkpoint, say, must not keep the study open for ever.
  log().warning("the test split was not measured: {}", why.message());
  end("finished");
}

void StudyActor::end(std::string state) {
  if (ended_) return;
  if (state == "stopped") {
    (void)parts_.study.progressed(elapsed_seconds());  // not ended for good: it can be resumed
  } else if (auto closed = parts_.study.end(state, elapsed_seconds()); !closed) {
    return abort(closed.error());
  }
  if (!persist()) return;
  if (state != "stopped") {
    for (const auto& trial : parts_.study.trials()) checkpoints_.tidy(trial);  // those that were paused to the end
  }
  if (auto kept = parts_.store->set_state(parts_.study.spec().name, state); !kept) {
    return abort_for_storage(kept.error());
  }
  if (auto flushed = parts_.store->flush(); !flushed) log().warning("{}", flushed.error().message());
  ended_ = true;
  end_.state = std::move(state);
  show();
  parts_.on_end(std::move(end_), std::move(parts_.study));
  stop();
}

void StudyActor::abort(const Error& error) {
  if (ended_) return;
  ended_ = true;
  for (const auto& [trial, running] : running_) release(running.lease);
  running_.clear();
  end_.state = "failed";
  end_.error = error;
  parts_.on_end(std::move(end_), std::move(parts_.study));
  stop();
}

void StudyActor::abort_for_storage(const Error& error) {
  abort({error.code(),
         fmt::format("{}; what was reported before is kept: {} go on with --resume", error.message(),
                     error.code() == ErrorCode::resource_exhausted ? "free space there, then" : "mend it, then")});
}

// ---- durability and display

bool StudyActor::persist() {
  const auto events = parts_.study.take_events();
  if (events.empty()) return true;
  if (auto kept = parts_.store->append(parts_.study.spec().name, events); !kept) {
    abort_for_storage(kept.error());
    return false;
  }
  if (!commit_due_) {
    commit_due_ = true;
    after(kGroupCommitInterval, [this] { group_commit(); });
  }
  return true;
}

void StudyActor::group_commit() {
  commit_due_ = false;
  if (ended_) return;
  if (auto flushed = parts_.store->flush(); !flushed) abort_for_storage(flushed.error());
}

void StudyActor::tick() {
  if (ended_) return;
  const MonotonicTime now = clock().now();
  if (now - time_recorded_ >= kTimeRecordInterval) {
    time_recorded_ = now;
    (void)parts_.study.progressed(elapsed_seconds());
    if (!persist()) return;
  }
  show(concluding_ ? "measuring the test split" : "");
  after(kSnapshotInterval, [this] { tick(); });
}

void StudyActor::show(std::string notice) {
  if (parts_.observer == nullptr) return;
  parts_.observer->on_snapshot(snapshots_.make(parts_.study, parts_.slots, elapsed_seconds(), std::move(notice)));
}

}  // namespace tandem::actors
