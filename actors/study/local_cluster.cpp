#include "actors/study/local_cluster.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include "actors/ground_truth/ground_truth_actor.hpp"
#include "actors/limits.hpp"
#include "actors/study/study_actor.hpp"
#include "actors/study/study_opening.hpp"
#include "actors/worker/process_host_provider.hpp"
#include "actors/worker/worker_actor.hpp"
#include "runtime/base/byte_size.hpp"
#include "runtime/base/random.hpp"
#include "runtime/host/energy.hpp"
#include "runtime/host/topology.hpp"

namespace tandem::actors {

namespace {

constexpr const char* kGroundTruthDocument = "ground_truth";
constexpr std::uint64_t kWorkerNode = 1;

/// What the embedded worker lends.
struct Lent {
  std::vector<int> processors;
  std::int64_t memory_bytes = 0;
  [[nodiscard]] int cores() const { return static_cast<int>(processors.size()); }
};

Result<Lent> lent_by(const FileSystem& files, int wanted) {
  auto topology = runtime::detect_topology(files);
  if (!topology) return forward_error(topology);
  if (wanted > topology->available_cores) {
    return fail(ErrorCode::infeasible, "{} cores asked for; this machine lends {}", wanted, topology->available_cores);
  }
  auto processors = topology->processors;
  processors.resize(std::min<std::size_t>(processors.size(),
                                          static_cast<std::size_t>(wanted > 0 ? wanted : topology->available_cores)));
  return Lent{std::move(processors), topology->memory_limit_bytes};
}

/// Refuses a study that asks for more cores or memory than there are.
Result<> check_feasible(const tuner::StudySpec& spec, const Lent& lent) {
  if (spec.trial.memory_bytes > lent.memory_bytes) {
    return fail(ErrorCode::infeasible, "[trial] memory: {} asked for; the only worker lends {}",
                format_byte_size(spec.trial.memory_bytes), format_byte_size(lent.memory_bytes));
  }
  const auto listed = spec.system.values.find("cores");
  if (listed == spec.system.values.end()) return {};
  for (const auto& value : listed->second) {
    const auto* cores = std::get_if<std::int64_t>(&value);
    if (cores != nullptr && *cores > lent.cores()) {
      return fail(ErrorCode::infeasible, "[system] cores: {} asked for; the only worker lends {}", *cores,
                  lent.cores());
    }
  }
  return {};
}

/// How many trials run at a time.
int slots_of(const tuner::StudySpec& spec, const Lent& lent) {
  int least = tuner::Catalog::builtin().lease_cores(spec.system, lent.cores());
  if (spec.system.mode == tuner::SystemMode::search) {
    if (const auto listed = spec.system.values.find("cores"); listed != spec.system.values.end()) {
      for (const auto& value : listed->second) {
        if (const auto* cores = std::get_if<std::int64_t>(&value)) least = std::min(least, static_cast<int>(*cores));
      }
    }
  }
  std::int64_t fitting = std::max(1, lent.cores() / std::max(1, least));
  if (spec.trial.memory_bytes > 0) fitting = std::min(fitting, lent.memory_bytes / spec.trial.memory_bytes);
  return static_cast<int>(spec.max_parallel > 0 ? std::min<std::int64_t>(fitting, spec.max_parallel) : fitting);
}

std::string make_token() {
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:016x}", entropy_seed());
  return token;
}

/// A directory of this user's alone for the socket that trial hosts join; its name cannot be guessed beforehand.
class SocketDirectory {
 public:
  explicit SocketDirectory(FileSystem& files)
      : files_(files), path_(fmt::format("/tmp/tandem-{:016x}", entropy_seed())) {}
  ~SocketDirectory() {
    (void)files_.remove(socket_path());
    (void)files_.remove(path_);
  }
  SocketDirectory(const SocketDirectory&) = delete;
  SocketDirectory& operator=(const SocketDirectory&) = delete;

  Result<> make() { return files_.make_directories(path_, 0700); }
  [[nodiscard]] std::string socket_path() const { return path_ + "/worker"; }

 private:
  FileSystem& files_;
  std::string path_;
};

using Ended = std::pair<StudyEnd, tuner::Study>;

/// Told once: what the study actor says, or that it is gone without having said anything.
struct EndPromise {
  EndPromise() = default;
  EndPromise(const EndPromise&) = delete;
  EndPromise& operator=(const EndPromise&) = delete;
  ~EndPromise() {
    tell(fail(ErrorCode::internal, "the study's actor failed; what was reported is kept: go on with --resume"));
  }
  void tell(Result<Ended> ended) {
    if (!std::exchange(told, true)) promise.set_value(std::move(ended));
  }
  std::promise<Result<Ended>> promise;
  bool told = false;
};

/// What cannot be read is put aside under another name: measurements can be made again, studies cannot.
Result<tuner::GroundTruth> load_ground_truth(tuner::Store& store, const Logger& log) {
  auto document = store.document(kGroundTruthDocument);
  if (!document) return forward_error(document);
  if (!*document) return tuner::GroundTruth{};
  auto known = tuner::GroundTruth::from_json(**document);
  if (known) return known;
  const std::string aside = std::string(kGroundTruthDocument) + ".damaged";
  if (auto kept = store.put_document(aside, **document); !kept) return forward_error(kept);
  log.warning("the ground truth cannot be read and is put aside as '{}'; probing starts anew: {}", aside,
              known.error().message());
  return tuner::GroundTruth{};
}

}  // namespace

Result<TuneOutcome> run_study_locally(TuneOptions options, StudyObserver* observer, std::stop_token stop) {
  PosixFileSystem files;
  SystemClock clock;
  PosixProcessLauncher launcher;

  auto lent = lent_by(files, options.cores);
  if (!lent) return forward_error(lent);
  if (auto fits = check_feasible(options.spec, *lent); !fits) return forward_error(fits);

  auto store = tuner::open_sqlite_store(options.state_directory);
  if (!store) return forward_error(store);
  auto notes = tuner::open_sqlite_store(options.state_directory);  // the ground truth's own connection
  if (!notes) return forward_error(notes);
  std::shared_ptr<tuner::Store> ground_truth_store = std::move(*notes);
  auto ground_truth = load_ground_truth(*ground_truth_store, options.log);
  if (!ground_truth) return forward_error(ground_truth, "ground truth");
  auto study = open_study(options, **store, files, clock);
  if (!study) return forward_error(study);

  SocketDirectory sockets(files);
  if (auto made = sockets.make(); !made) return forward_error(made);
  runtime::RuntimeOptions node;
  node.name = "head";
  node.threads = 2;
  node.node = kWorkerNode;
  node.incarnation = static_cast<std::uint64_t>(clock.unix_nanoseconds());
  node.seed = options.seed;
  node.clock = &clock;
  node.token = make_token();
  node.logger = options.log;
  const std::string token = node.token;
  const std::string address = "unix:" + sockets.socket_path();
  runtime::Runtime head(std::move(node));
  if (auto listening = head.listen(address); !listening) return forward_error(listening);

  const auto& spec = options.spec;
  ProcessHostProvider hosts(
      {options.trial_host_program, spec.trial.workload, spec.trial.dataset, options.data_directory, address, token},
      head, launcher, files);
  const int slots = slots_of(spec, *lent);
  const auto worker = head.spawn<WorkerActor>(
      {.name = "worker"},
      WorkerActor::Parts{"local", lent->processors, lent->memory_bytes, hosts, std::min(slots, kWarmHosts)});
  const auto keeper = head.spawn<GroundTruthActor>(
      {.name = "ground_truth"}, std::move(*ground_truth), [ground_truth_store](const std::string& json) {
        return ground_truth_store->put_document(kGroundTruthDocument, json);
      });

  auto telling = std::make_shared<EndPromise>();
  auto ended = telling->promise.get_future();
  StudyActor::Parts parts{std::move(*study),
                          std::move(*store),
                          files,
                          {options.data_directory, checkpoint_root(options.state_directory, spec.name), lent->cores()},
                          worker,
                          keeper,
                          observer,
                          slots,
                          [telling = std::move(telling)](StudyEnd end, tuner::Study last) {
                            telling->tell(Ended{std::move(end), std::move(last)});
                          }};
  const auto actor = head.spawn<StudyActor>({.name = "study"}, std::move(parts));
  const std::stop_callback on_stop(
      stop, [&head, actor] { (void)head.send(actor, runtime::make_message<schemas::StopStudy>()); });

  auto outcome = ended.get();
  hosts.shutdown();
  (void)head.shutdown(std::chrono::seconds(5));
  if (!outcome) return forward_error(outcome);
  auto& [end, last] = *outcome;
  if (end.error) return tl::unexpected<Error>(*end.error);
  const auto sums = tuner::totals(last);
  return TuneOutcome{std::move(last), end.state, sums, std::string(runtime::to_string(runtime::EnergyMeter().source())),
                     std::move(end.start_seconds)};
}

}  // namespace tandem::actors
