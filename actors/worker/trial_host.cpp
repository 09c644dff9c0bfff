#include "actors/worker/trial_host.hpp"

#include <capnp/serialize.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "actors/codec.hpp"
#include "actors/limits.hpp"
#include "actors/pipeline/pipeline_stage_actor.hpp"
#include "actors/profiler/profiler_actor.hpp"
#include "actors/trial/thread_compute.hpp"
#include "actors/trial/trial_actor.hpp"
#include "actors/worker/process_host_provider.hpp"
#include "runtime/actor/runtime.hpp"
#include "runtime/host/topology.hpp"

namespace tandem::actors {

namespace {

/// The preparation as plain values.
struct Preparation {
  HostSettings settings;
  std::string environment;
};

Preparation read_preparation(std::string_view bytes) {
  std::vector<capnp::word> words(bytes.size() / sizeof(capnp::word));
  std::memcpy(words.data(), bytes.data(), words.size() * sizeof(capnp::word));
  capnp::FlatArrayMessageReader message(kj::ArrayPtr<const capnp::word>(words.data(), words.size()));
  const auto root = message.getRoot<schemas::HostPreparation>();
  Preparation preparation;
  preparation.settings.workload = root.getWorkload().cStr();
  preparation.settings.dataset = root.getDataset().cStr();
  preparation.settings.data_directory = root.getDataDirectory().cStr();
  preparation.settings.address = root.getAddress().cStr();
  const auto token = root.getToken();
  preparation.settings.token.assign(reinterpret_cast<const char*>(token.begin()), token.size());
  preparation.environment = root.getEnvironment().cStr();
  return preparation;
}

Result<> warm_up(const Preparation& preparation, SessionFactory& sessions, int replicas) {
  const HostSettings& settings = preparation.settings;
  return sessions.warm_up(settings.workload, settings.dataset, settings.data_directory, replicas);
}

/// Nodes of hosts lie above those of workers; the pid tells them apart, the start time their lives.
constexpr std::uint64_t kHostNodes = std::uint64_t{1} << 32;

}  // namespace

Result<> prepare_trial_host(std::string_view bytes, SessionFactory& sessions) {
  const Preparation preparation = read_preparation(bytes);
  const HostSettings& settings = preparation.settings;
  if (auto loaded = sessions.preload(settings.dataset, settings.data_directory); !loaded) return loaded;
  // Untouched defaults start as many OpenMP threads as there are cores, which a fork would lose: those hosts warm up
  // on their own.
  if (preparation.environment == kFrameworkEnvironment) return {};
  return warm_up(preparation, sessions, 1);
}

int run_trial_host(std::string_view bytes, SessionFactory& sessions, FileSystem& files) {
  SystemClock clock;
  const MonotonicTime born = clock.now();
  const Preparation preparation = read_preparation(bytes);
  const Logger logger = Logger::to_stderr("trial-host", LogLevel::warning);
  const auto topology = runtime::detect_topology(files);
  const bool untouched = preparation.environment == kFrameworkEnvironment;
  const auto warmed = warm_up(preparation, sessions, untouched || !topology ? 1 : topology->available_cores);

  runtime::RuntimeOptions options;
  options.name = "trial-host";
  options.node = kHostNodes + static_cast<std::uint64_t>(::getpid());
  options.incarnation = static_cast<std::uint64_t>(clock.unix_nanoseconds());
  options.clock = &clock;
  options.token = preparation.settings.token;
  options.logger = logger;
  runtime::Runtime node(std::move(options));
  ThreadCompute compute({node, sessions, files, clock});
  node.on_node_down([&compute](runtime::NodeId, const Error&) { compute.quit(); });

  const auto profiler = node.spawn<ProfilerActor>({.name = "profiler"});
  const auto pipeline = node.spawn<PipelineStageActor>({.name = "pipeline"}, profiler);
  const auto trial = node.spawn<TrialActor>(
      {.name = "trial"}, TrialActor::Parts{compute, pipeline, topology ? topology->host_class() : "unknown"});

  auto worker_node = node.connect_blocking(preparation.settings.address);
  auto worker = worker_node ? node.remote_blocking(worker_node->node, "worker", kHostAskDeadline)
                            : Result<runtime::ActorRef>(forward_error(worker_node));
  if (!worker) {
    logger.error("cannot join the worker: {}", worker.error().message());
    return 1;
  }
  auto ready = runtime::make_message<schemas::HostReady>();
  ready->setPid(::getpid());
  runtime::to_address(trial, ready->initTrialActor());
  ready->setWarmSeconds(to_seconds(clock.now() - born));
  ready->setEnvironment(preparation.environment.c_str());
  if (!warmed) write_failure(ready->initFailure(), warmed.error());
  if (auto sent = node.send(*worker, std::move(ready)); !sent) return 1;
  compute.run();
  return 0;
}

}  // namespace tandem::actors
