#include "actors/worker/process_host_provider.hpp"

#include <capnp/serialize.h>

#include <utility>

#include "actors/codec.hpp"

namespace tandem::actors {

using runtime::make_message;

namespace {

/// OpenMP reads these once, when a process first runs an operator; so they are the template's.
std::map<std::string, std::optional<std::string>> variables_of(const std::string& environment) {
  if (environment == kFrameworkEnvironment) return {};
  return {{"OMP_WAIT_POLICY", "passive"},
          {"GOMP_SPINCOUNT", "0"},
          {"OMP_NUM_THREADS", "1"},
          {"OPENBLAS_NUM_THREADS", "1"},
          {"OMP_PROC_BIND", "false"},
          // OpenBLAS' own threads then sleep at once when there is nothing to do, as OpenMP's do.
          {"OPENBLAS_THREAD_TIMEOUT", "4"}};
}

std::string preparation_of(const HostSettings& settings, const std::string& environment) {
  capnp::MallocMessageBuilder message;
  auto preparation = message.initRoot<schemas::HostPreparation>();
  preparation.setWorkload(settings.workload.c_str());
  preparation.setDataset(settings.dataset.c_str());
  preparation.setDataDirectory(settings.data_directory.c_str());
  preparation.setAddress(settings.address.c_str());
  preparation.setToken(
      kj::ArrayPtr<const kj::byte>(reinterpret_cast<const kj::byte*>(settings.token.data()), settings.token.size()));
  preparation.setEnvironment(environment.c_str());
  const auto words = capnp::messageToFlatArray(message);
  const auto bytes = words.asBytes();
  return {reinterpret_cast<const char*>(bytes.begin()), bytes.size()};
}

}  // namespace

ProcessHostProvider::ProcessHostProvider(HostSettings settings, runtime::Runtime& runtime, ProcessLauncher& launcher,
                                         FileSystem& files)
    : settings_(std::move(settings)), runtime_(runtime), launcher_(launcher), files_(files) {}

ProcessHostProvider::~ProcessHostProvider() { shutdown(); }

Result<ProcessHostProvider::Template*> ProcessHostProvider::template_for(const std::string& environment) {
  Template& kept = templates_[environment];
  if (kept.client && !kept.ended) return &kept;
  kept.client.reset();  // its last notice has been told, so that no thread of it waits for us
  kept.ended = false;
  ProcessSpec spec;
  spec.argv = {settings_.program};
  spec.environment = variables_of(environment);
  spec.standard_output = StreamSource::from(2);  // standard output is for answers
  auto client = runtime::TemplateClient::launch(
      launcher_, files_, runtime_.clock(), std::move(spec),
      [this, environment](const runtime::TemplateNotice& notice) { noticed(environment, notice); });
  if (!client) return forward_error(client, "trial host");
  kept.client = std::move(*client);
  if (auto asked = kept.client->prepare(preparation_of(settings_, environment)); !asked) return forward_error(asked);
  return &kept;
}

Result<> ProcessHostProvider::request(const std::string& environment) {
  const std::lock_guard lock(mutex_);
  if (shut_down_) return fail(ErrorCode::cancelled, "trial hosts are no longer made: the worker shuts down");
  auto kept = template_for(environment);
  if (!kept) return forward_error(kept);
  auto ticket = (*kept)->client->fork_child({});
  if (!ticket) return forward_error(ticket, "trial host");
  return {};
}

Result<> ProcessHostProvider::limit_memory(std::int64_t pid, std::int64_t memory_bytes) {
  const std::lock_guard lock(mutex_);
  for (auto& [environment, kept] : templates_) {
    const auto found = kept.hosts.find(pid);
    if (found != kept.hosts.end() && kept.client) return kept.client->limit_child(found->second, memory_bytes);
  }
  return fail(ErrorCode::not_found, "trial host {}: has ended", pid);
}

void ProcessHostProvider::dismiss(std::int64_t pid) {
  const std::lock_guard lock(mutex_);
  if (shut_down_) return;  // every host is being ended
  for (auto& [environment, kept] : templates_) {
    const auto found = kept.hosts.find(pid);
    if (found == kept.hosts.end()) continue;
    if (kept.ended) return;
    (void)kept.client->kill_child(found->second);  // not_found: it has ended already, and that is told anyway
    return;
  }
}

void ProcessHostProvider::noticed(const std::string& environment, const runtime::TemplateNotice& notice) {
  if (const auto* prepared = std::get_if<runtime::TemplatePrepared>(&notice)) {
    if (prepared->error) tell_unavailable(environment, *prepared->error);
  } else if (const auto* forked = std::get_if<runtime::ChildForked>(&notice)) {
    const std::lock_guard lock(mutex_);
    templates_[environment].hosts[forked->child.pid] = forked->child;
  } else if (const auto* failed = std::get_if<runtime::ChildForkFailed>(&notice)) {
    tell_unavailable(environment, failed->error.within("trial host"));
  } else if (const auto* exited = std::get_if<runtime::ChildExited>(&notice)) {
    {
      const std::lock_guard lock(mutex_);
      templates_[environment].hosts.erase(exited->child.pid);
    }
    tell_exited(environment, exited->child.pid, runtime::to_string(exited->cause), exited->detail);
  } else if (const auto* ended = std::get_if<runtime::TemplateEnded>(&notice)) {
    std::map<std::int64_t, ProcessIdentity> lost;
    {
      const std::lock_guard lock(mutex_);
      lost.swap(templates_[environment].hosts);
      templates_[environment].ended = true;
    }
    for (const auto& [pid, identity] : lost) {
      tell_exited(environment, pid, "node_lost", "its template ended: " + ended->detail);
    }
    if (!ended->requested) {
      tell_unavailable(environment, {ErrorCode::unavailable, "the trial host template ended: " + ended->detail}, true);
    }
  }
}

void ProcessHostProvider::tell_unavailable(const std::string& environment, const Error& why, bool transient) {
  auto message = make_message<schemas::HostsUnavailable>();
  message->setEnvironment(environment.c_str());
  write_failure(message->initFailure(), why);
  message->setTransient(transient);
  (void)runtime_.send(worker_, std::move(message));
}

void ProcessHostProvider::tell_exited(const std::string& environment, std::int64_t pid, std::string_view cause,
                                      const std::string& detail) {
  auto message = make_message<schemas::HostExited>();
  message->setPid(pid);
  message->setEnvironment(environment.c_str());
  message->setCause(std::string(cause).c_str());
  message->setDetail(detail.c_str());
  (void)runtime_.send(worker_, std::move(message));
}

void ProcessHostProvider::shutdown() {
  std::map<std::string, Template> ending;
  {
    const std::lock_guard lock(mutex_);
    shut_down_ = true;
    for (auto& [environment, kept] : templates_) ending[environment].client = std::move(kept.client);
  }
  for (auto& [environment, kept] : ending) {
    if (kept.client) kept.client->shutdown(std::chrono::seconds(2));
  }
}

}  // namespace tandem::actors
