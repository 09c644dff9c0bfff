/// A whole study in one thread and virtual time: head, worker and trial hosts as simulated nodes, scripted trials.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/ground_truth/ground_truth_actor.hpp"
#include "actors/pipeline/pipeline_stage_actor.hpp"
#include "actors/profiler/profiler_actor.hpp"
#include "actors/study/study_actor.hpp"
#include "actors/trial/scripted_compute.hpp"
#include "actors/trial/trial_actor.hpp"
#include "actors/worker/worker_actor.hpp"
#include "runtime/sim/simulation.hpp"
#include "tuner/store/store.hpp"

namespace tandem::tests {

/// Hosts as nodes of the simulation; "pids" are node numbers.
class SimulatedHosts final : public actors::HostProvider {
 public:
  SimulatedHosts(runtime::Simulation& simulation, runtime::Runtime& head, FileSystem& files, actors::TrialScript script)
      : simulation_(simulation), head_(head), files_(files), script_(std::move(script)) {}

  void attach(runtime::ActorRef worker) override { worker_ = worker; }

  Result<> request(const std::string& environment) override {
    simulation_.after(std::chrono::milliseconds(150), [this, environment] { make_host(environment); });
    return {};
  }

  Result<> limit_memory(std::int64_t pid, std::int64_t memory_bytes) override {
    memory_limits_[pid] = memory_bytes;
    return {};
  }

  void dismiss(std::int64_t pid) override {
    simulation_.after(std::chrono::milliseconds(1), [this, pid] { end(pid, "stopped", ""); });
  }

  /// As when its template ends, and as the kernel or an operator would.
  void lose(std::int64_t pid) { end(pid, "node_lost", "its template ended"); }
  void kill(std::int64_t pid) { end(pid, "killed", "killed by signal 9 (SIGKILL)"); }

  /// The next hosts, that many, end before they are ready.
  void end_early(int hosts) { dying_ = hosts; }

  /// Limits of the hosts alive, together.
  [[nodiscard]] std::int64_t memory_leased_bytes() const {
    std::int64_t bytes = 0;
    for (const std::int64_t pid : alive()) {
      const auto limit = memory_limits_.find(pid);
      if (limit != memory_limits_.end()) bytes += limit->second;
    }
    return bytes;
  }

  [[nodiscard]] std::vector<std::int64_t> alive() const {
    std::vector<std::int64_t> pids;
    for (const auto& host : hosts_) pids.push_back(host->pid);
    return pids;
  }
  /// Cores in use by opened sessions, each as often as it is used.
  [[nodiscard]] std::multiset<int> cores_in_use() const {
    std::multiset<int> cores;
    for (const auto& host : hosts_) cores.insert(host->cores.begin(), host->cores.end());
    return cores;
  }

 private:
  struct Host {
    std::int64_t pid = 0;
    std::unique_ptr<actors::ScriptedCompute> compute;
    std::vector<int> cores;
  };

  void make_host(const std::string& environment) {
    const std::int64_t pid = next_pid_++;
    runtime::RuntimeOptions options;
    options.name = "host-" + std::to_string(pid);
    options.node = static_cast<std::uint64_t>(pid);
    runtime::Runtime& node = simulation_.add_node(std::move(options));
    auto host = std::make_unique<Host>();
    host->pid = pid;
    actors::TrialScript script = script_;
    script.opened = [cores = &host->cores](const actors::OpenOrder& order) { *cores = order.cores; };
    host->compute = std::make_unique<actors::ScriptedCompute>(node, files_, std::move(script));
    const auto profiler = node.spawn<actors::ProfilerActor>({.name = "profiler"});
    const auto pipeline = node.spawn<actors::PipelineStageActor>({.name = "pipeline"}, profiler);
    const auto trial = node.spawn<actors::TrialActor>(
        {.name = "trial"}, actors::TrialActor::Parts{*host->compute, pipeline, "simulated/2"});
    hosts_.push_back(std::move(host));
    if (dying_ > 0) {
      --dying_;
      return end(pid, "killed", "killed by signal 9 (SIGKILL)");
    }
    node.connect("memory:head", [this, &node, pid, trial, environment](Result<runtime::NodeId> joined) {
      if (!joined) return;
      auto ready = runtime::make_message<schemas::HostReady>();
      ready->setPid(pid);
      ready->setEnvironment(environment.c_str());
      runtime::to_address(trial, ready->initTrialActor());
      (void)node.send(worker_, std::move(ready));
    });
  }

  void end(std::int64_t pid, const char* cause, const char* detail) {
    const auto found = std::find_if(hosts_.begin(), hosts_.end(), [pid](const auto& host) { return host->pid == pid; });
    if (found == hosts_.end()) return;
    simulation_.crash(static_cast<std::uint64_t>(pid));
    hosts_.erase(found);
    auto exited = runtime::make_message<schemas::HostExited>();
    exited->setEnvironment("lease");
    exited->setPid(pid);
    exited->setCause(cause);
    exited->setDetail(detail);
    (void)head_.send(worker_, std::move(exited));
  }

  runtime::Simulation& simulation_;
  runtime::Runtime& head_;
  FileSystem& files_;
  actors::TrialScript script_;
  runtime::ActorRef worker_;
  std::int64_t next_pid_ = 1000;
  int dying_ = 0;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::map<std::int64_t, std::int64_t> memory_limits_;
};

/// That the one worker lends.
inline constexpr std::int64_t kMemoryBytes = std::int64_t{4} << 30;

/// One life of the head. The store and the files outlive it, as a disk would.
class SimulatedCluster {
 public:
  struct Disk {
    std::unique_ptr<tuner::Store> store = tuner::make_memory_store();
    MemoryFileSystem files;
    std::string ground_truth;
  };

  SimulatedCluster(Disk& disk, const tuner::StudySpec& spec, std::uint64_t seed, actors::TrialScript script, int slots,
                   int cores)
      : disk_(disk), simulation_({.seed = seed}) {
    runtime::RuntimeOptions options;
    options.name = "head";
    options.node = 1;
    runtime::Runtime& head = simulation_.add_node(std::move(options));
    REQUIRE(head.listen("memory:head"));
    hosts_ = std::make_unique<SimulatedHosts>(simulation_, head, disk.files, std::move(script));
    std::vector<int> processors;
    for (int i = 0; i < cores; ++i) processors.push_back(i);
    const auto worker = head.spawn<actors::WorkerActor>(
        {.name = "worker"}, actors::WorkerActor::Parts{"local", processors, kMemoryBytes, *hosts_, 1});
    tuner::GroundTruth known;
    if (!disk.ground_truth.empty()) known = *tuner::GroundTruth::from_json(disk.ground_truth);
    const auto keeper = head.spawn<actors::GroundTruthActor>({.name = "ground_truth"}, std::move(known),
                                                             [&disk](const std::string& json) -> Result<> {
                                                               disk.ground_truth = json;
                                                               return {};
                                                             });
    actors::StudyActor::Parts parts{open_study(spec, seed),
                                    std::make_unique<BorrowedStore>(*disk.store),
                                    disk.files,
                                    {"", "/state/checkpoints/" + spec.name, cores},
                                    worker,
                                    keeper,
                                    nullptr,
                                    slots,
                                    [this](actors::StudyEnd end, tuner::Study study) {
                                      end_ = std::move(end);
                                      study_.emplace(std::move(study));
                                    }};
    head.spawn<actors::StudyActor>({.name = "study"}, std::move(parts));
  }

  [[nodiscard]] runtime::Simulation& simulation() { return simulation_; }
  [[nodiscard]] SimulatedHosts& hosts() { return *hosts_; }
  [[nodiscard]] bool ended() const { return end_.has_value(); }
  [[nodiscard]] const actors::StudyEnd& end() const { return *end_; }
  [[nodiscard]] const tuner::Study& study() const { return *study_; }

  /// Steps until the study ends. False: it did not within a virtual day.
  bool run() {
    const MonotonicTime limit = simulation_.clock().now() + std::chrono::hours(24);
    while (!ended() && simulation_.clock().now() < limit) {
      if (!simulation_.step()) return ended();
    }
    return ended();
  }

 private:
  /// The disk's store, behind the pointer an actor owns.
  class BorrowedStore final : public tuner::Store {
   public:
    explicit BorrowedStore(tuner::Store& store) : store_(store) {}
    Result<std::vector<tuner::StudyRecord>> studies() override { return store_.studies(); }
    Result<std::optional<tuner::StudyRecord>> find(std::string_view study) override { return store_.find(study); }
    Result<> create(const tuner::StudyRecord& study) override { return store_.create(study); }
    Result<> erase(std::string_view study) override { return store_.erase(study); }
    Result<> append(std::string_view study, const std::vector<tuner::Event>& events) override {
      return store_.append(study, events);
    }
    Result<std::vector<tuner::Event>> events(std::string_view study) override { return store_.events(study); }
    Result<> set_state(std::string_view study, std::string_view state) override {
      return store_.set_state(study, state);
    }
    Result<> flush() override { return store_.flush(); }
    Result<> claim(std::string_view study) override { return store_.claim(study); }
    void release(std::string_view study) override { store_.release(study); }
    Result<std::optional<std::string>> document(std::string_view name) override { return store_.document(name); }
    Result<> put_document(std::string_view name, std::string_view text) override {
      return store_.put_document(name, text);
    }

   private:
    tuner::Store& store_;
  };

  tuner::Study open_study(const tuner::StudySpec& spec, std::uint64_t seed) {
    const auto known = disk_.store->find(spec.name);
    REQUIRE(known);
    if (!*known) {
      REQUIRE(disk_.store->create({spec.name, spec.source, seed, "running", 0}));
      auto study = tuner::Study::create(spec, seed);
      REQUIRE(study);
      return std::move(*study);
    }
    const auto events = disk_.store->events(spec.name);
    REQUIRE(events);
    auto study = tuner::Study::replay(spec, seed, *events);
    if (!study) FAIL(study.error().message());
    return std::move(*study);
  }

  Disk& disk_;
  std::unique_ptr<SimulatedHosts> hosts_;
  std::optional<actors::StudyEnd> end_;
  std::optional<tuner::Study> study_;
  runtime::Simulation simulation_;
};

}  // namespace tandem::tests
