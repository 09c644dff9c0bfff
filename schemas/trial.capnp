# A trial's life: what the study, its worker, and the three actors of a trial host tell one another.
@0xf8d98eecf829d3a1;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tandem::schemas");

using Actor = import "actor.capnp";

struct NamedValue {
  name @0 :Text;
  union {
    boolean @1 :Bool;
    integer @2 :Int64;
    number @3 :Float64;
    text @4 :Text;
  }
}

struct Metric {
  name @0 :Text;
  value @1 :Float64;
}

struct Failure {
  code @0 :Text;
  message @1 :Text;
}

# Study → worker: a lease and a warm host for a trial. Answered by `TrialPlaced` or an error.
struct PlaceTrial {
  study @0 :Text;
  trial @1 :Int64;
  attempt @2 :UInt32;
  cores @3 :UInt32;
  memoryBytes @4 :Int64;  # leased, and the limit of its host; 0: none
  environment @5 :Text;  # key of the template: "lease" or "framework"
}

struct TrialPlaced {
  trialActor @0 :Actor.ActorAddress;
  cores @1 :List(UInt32);  # processor numbers leased
  worker @2 :Text;
  leaseId @3 :UInt64;
  waitSeconds @4 :Float64;  # from the request to a warm host
}

# Study → worker: the trial needs its host no more.
struct ReleaseTrial {
  leaseId @0 :UInt64;
  kill @1 :Bool;
}

# Worker → study: the host of a trial ended without being asked to.
struct TrialHostLost {
  leaseId @0 :UInt64;
  trial @1 :Int64;
  cause @2 :Text;  # failed | killed | out_of_memory
  detail @3 :Text;
}

# Study → trial actor.
struct StartTrial {
  study @0 :Text;
  trial @1 :Int64;
  attempt @2 :UInt32;
  workload @3 :Text;
  dataset @4 :Text;
  dataDirectory @5 :Text;
  params @6 :List(NamedValue);
  seed @7 :UInt64;
  epochs @8 :UInt32;
  fromStep @9 :UInt32;            # epochs done; resume from their checkpoint
  checkpointDirectory @10 :Text;  # of this trial; empty: none are written
  cores @11 :List(UInt32);
  pipeline @12 :Bool;
  candidates @13 :List(Configuration);  # the first is what the trial starts with
  reference @14 :List(NamedValue);
  probeBudget @15 :Float64;
  minimizeEnergy @16 :Bool;
  pipelineState @17 :Text;
  studyActor @18 :Actor.ActorAddress;
  groundTruthActor @19 :Actor.ActorAddress;
  frameworkDefaults @20 :Bool;  # leave threads, affinity and allocator as the framework has them
}

struct Configuration {
  values @0 :List(NamedValue);
}

# Trial actor → study: an epoch is done, evaluated and checkpointed. Answered by `TrialDecision`.
struct TrialReport {
  trial @0 :Int64;
  attempt @1 :UInt32;
  step @2 :UInt32;
  values @3 :List(Metric);
  seconds @4 :Float64;
  energyJoules @5 :Float64;
  pipelineState @6 :Text;
  stages @7 :List(StageSpan);
  tuned @8 :Tuned;  # once, when the pipeline has ended or the trial does
  startSeconds @9 :Float64;  # from StartTrial's arrival until steps ran at their own speed; 0 after the first report
}

struct StageSpan {
  stage @0 :Text;
  fromStep @1 :Int64;
  toStep @2 :Int64;
  seconds @3 :Float64;
  system @4 :List(NamedValue);
}

struct Tuned {
  system @0 :List(NamedValue);
  stepSeconds @1 :Float64;
  defaultStepSeconds @2 :Float64;
  probeSteps @3 :Int64;
  totalSteps @4 :Int64;
  excessSeconds @5 :Float64;
  hit @6 :Bool;
}

struct TrialDecision {
  decision @0 :Text;  # continue | stop | pause
}

# Trial actor → study, unanswered: what a watcher wants to see between two reports.
struct TrialProgress {
  trial @0 :Int64;
  attempt @1 :UInt32;
  step @2 :Int64;
  totalSteps @3 :Int64;
  stage @4 :Text;
  stepSeconds @5 :Float64;
  system @6 :List(NamedValue);
}

struct TrialEnded {
  trial @0 :Int64;
  attempt @1 :UInt32;
  failure @2 :Failure;  # null: it ended as decided
  checkpointFailed @3 :Bool;  # the failure is the checkpoint storage's, not the trial's own
}

# Study → trial actor: measure the test split from this checkpoint. Answered by `TestMetrics`.
struct MeasureTest {
  start @0 :StartTrial;
}

struct TestMetrics {
  values @0 :List(Metric);
  failure @1 :Failure;
}

# Compute thread → trial actor.
struct SessionOpened {
  failure @0 :Failure;
  stepsPerEpoch @1 :Int64;
  stepIndex @2 :Int64;
  parameterCount @3 :Int64;
  flopsPerSample @4 :Float64;
  activationBytesPerSample @5 :Float64;
  inputElements @6 :Int64;
  batchSize @7 :Int64;
}

struct EpochFinished {
  failure @0 :Failure;
  values @1 :List(Metric);
  evaluationSeconds @2 :Float64;
  checkpointSeconds @3 :Float64;
  checkpointFailed @4 :Bool;  # the failure is that of writing the checkpoint
}

# Worker → template, opaque to the template itself: what its hosts shall be warm for.
struct HostPreparation {
  workload @0 :Text;
  dataset @1 :Text;
  dataDirectory @2 :Text;
  address @3 :Text;  # where the hosts join their worker
  token @4 :Data;
  environment @5 :Text;  # "lease" or "framework"
  seed @6 :UInt64;
}

# Trial host → worker: forked, stepped once, ready.
struct HostReady {
  pid @0 :Int64;
  trialActor @1 :Actor.ActorAddress;
  warmSeconds @2 :Float64;  # from the fork to here
  failure @3 :Failure;
  environment @4 :Text;
}

# Host provider → worker actor.
struct HostExited {
  pid @0 :Int64;
  cause @1 :Text;  # stopped | failed | killed | out_of_memory | node_lost: not its own doing
  detail @2 :Text;
  environment @3 :Text;
}

# The hosts of an environment that were asked for will not come: its template is gone, or its preparation failed.
struct HostsUnavailable {
  environment @0 :Text;
  failure @1 :Failure;
  transient @2 :Bool;  # asking again may help
}

# A scripted trial's clock: run the next of the closures that wait.
struct ScriptOrder {
}

# Local cluster → study actor.
struct StopStudy {
}

# Trial actor → profiler actor: a measured window. The profiler keeps a running vector.
struct WindowSample {
  stage @0 :Text;
  steps @1 :UInt32;
  seconds @2 :Float64;
  stepSeconds @3 :List(Float64);
  cpuSeconds @4 :Float64;
  systemSeconds @5 :Float64;
  minorFaults @6 :Int64;
  majorFaults @7 :Int64;
  voluntarySwitches @8 :Int64;
  involuntarySwitches @9 :Int64;
  runQueueWaitSeconds @10 :Float64;
  events @11 :List(Metric);  # perf events, per window, where the host has them
  batchSize @12 :Int64;
  parameterCount @13 :Int64;
  flopsPerSample @14 :Float64;
  activationBytesPerSample @15 :Float64;
  inputElements @16 :Int64;
}

struct Profile {
  version @0 :UInt32;
  names @1 :List(Text);
  values @2 :List(Float64);
}

# Pipeline actor → ground-truth actor. Answered by `GroundTruthAnswer`.
struct GroundTruthQuestion {
  profile @0 :Profile;
  key @1 :EvidenceKey;
  allowed @2 :List(Configuration);
}

struct EvidenceKey {
  batchSize @0 :Int64;
  leaseCores @1 :Int64;
  objective @2 :Text;
  hostClass @3 :Text;
}

struct GroundTruthAnswer {
  hit @0 :Bool;
  entry @1 :Int64;
  best @2 :List(NamedValue);
  expectedStepSeconds @3 :Float64;
  defaultStepSeconds @4 :Float64;
}

struct GroundTruthFinding {
  profile @0 :Profile;
  key @1 :EvidenceKey;
  best @2 :List(NamedValue);
  bestStepSeconds @3 :Float64;
  defaultStepSeconds @4 :Float64;
}

struct GroundTruthContradiction {
  entry @0 :Int64;
}

# Trial actor ↔ pipeline actor.
struct PipelineBegin {
  candidates @0 :List(Configuration);
  reference @1 :List(NamedValue);
  totalSteps @2 :Int64;
  stepsPerEpoch @3 :Int64;
  probeBudget @4 :Float64;
  minimizeEnergy @5 :Bool;
  saved @6 :Text;
  key @7 :EvidenceKey;
  groundTruth @8 :Actor.ActorAddress;
}

struct WindowPlan {
  stage @0 :Text;
  system @1 :List(NamedValue);
  steps @2 :Int64;
  warmupSteps @3 :Int64;
  abortStepSeconds @4 :Float64;
}

struct WindowOutcome {
  plan @0 :WindowPlan;
  steps @1 :Int64;
  stepSeconds @2 :List(Float64);
  seconds @3 :Float64;
  energyJoules @4 :Float64;
  applied @5 :Bool;
  applyError @6 :Text;
  sample @7 :WindowSample;
  failure @8 :Failure;  # the step itself failed; null: it did not
  setupSeconds @9 :Float64;  # of seconds: applying the plan, and what its first step took beyond the quickest after it
}

# Answer to PipelineBegin and WindowOutcome.
struct PipelineNext {
  plan @0 :WindowPlan;
  saved @1 :Text;
  stages @2 :List(StageSpan);
  tuned @3 :Tuned;  # set once the pipeline exploits
}
