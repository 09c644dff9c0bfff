#include "actors/worker/worker_actor.hpp"

#include <algorithm>
#include <utility>

#include "actors/codec.hpp"
#include "actors/limits.hpp"
#include "runtime/base/byte_size.hpp"

namespace tandem::actors {

using runtime::Incoming;
using runtime::make_message;

WorkerActor::WorkerActor(Parts parts)
    : parts_(std::move(parts)),
      free_cores_(parts_.processors.begin(), parts_.processors.end()),
      free_memory_bytes_(parts_.memory_bytes) {}

void WorkerActor::on_start() {
  parts_.hosts.attach(self());
  on<schemas::PlaceTrial>([this](schemas::PlaceTrial::Reader request, Incoming& in) { place(request, in); });
  on<schemas::ReleaseTrial>(
      [this](schemas::ReleaseTrial::Reader request, Incoming&) { release(request.getLeaseId()); });
  on<schemas::HostReady>([this](schemas::HostReady::Reader ready, Incoming&) { host_ready(ready); });
  on<schemas::HostExited>([this](schemas::HostExited::Reader exited, Incoming&) { host_exited(exited); });
  on<schemas::HostsUnavailable>([this](schemas::HostsUnavailable::Reader message, Incoming&) {
    const std::string environment = message.getEnvironment().cStr();
    const Error why = read_failure(message.getFailure());
    if (!message.getTransient()) return hosts_unavailable(environment, why);
    pools_[environment].coming = 0;
    host_failed(environment, why);
  });
}

void WorkerActor::place(schemas::PlaceTrial::Reader place, Incoming& in) {
  const auto cores = static_cast<std::size_t>(place.getCores());
  if (cores < 1 || cores > parts_.processors.size()) {
    return in.reply_error({ErrorCode::infeasible, fmt::format("a trial needs {} cores; worker {} lends {}", cores,
                                                              parts_.name, parts_.processors.size())});
  }
  const std::int64_t memory_bytes = place.getMemoryBytes();
  if (memory_bytes < 0 || memory_bytes > parts_.memory_bytes) {
    return in.reply_error({ErrorCode::infeasible,
                           fmt::format("a trial needs {} of memory; worker {} lends {}", format_byte_size(memory_bytes),
                                       parts_.name, format_byte_size(parts_.memory_bytes))});
  }
  if (waiting_.size() >= kWaitingPlacements) {
    return in.reply_error(
        {ErrorCode::resource_exhausted, fmt::format("{} placements wait already, the limit", waiting_.size())});
  }
  waiting_.push_back({in.defer(), in.sender(), place.getTrial(), static_cast<int>(cores), memory_bytes,
                      place.getEnvironment().cStr(), clock().now()});
  serve();
}

void WorkerActor::serve() {
  while (!waiting_.empty()) {
    Request& first = waiting_.front();
    if (static_cast<int>(free_cores_.size()) < first.cores || free_memory_bytes_ < first.memory_bytes) return;
    Pool& pool = pools_[first.environment];
    if (pool.warm.empty()) return top_up(first.environment, 1);
    WarmHost host = pool.warm.front();
    pool.warm.pop_front();
    Request request = std::move(first);
    waiting_.pop_front();
    const std::string environment = request.environment;
    grant(std::move(request), host);
    top_up(environment, parts_.warm_hosts);
  }
}

void WorkerActor::grant(Request request, WarmHost host) {
  Lease lease{request.study, request.trial, {}, request.memory_bytes, false};
  free_memory_bytes_ -= request.memory_bytes;
  if (request.memory_bytes > 0) {
    // A host that has just gone is told as ended, and the trial with it.
    if (auto limited = parts_.hosts.limit_memory(host.pid, request.memory_bytes); !limited) {
      log().warning("trial {}: {}", request.trial, limited.error().message());
    }
  }
  for (int i = 0; i < request.cores; ++i) {
    lease.cores.push_back(*free_cores_.begin());
    free_cores_.erase(free_cores_.begin());
  }
  auto placed = make_message<schemas::TrialPlaced>();
  runtime::to_address(host.trial_actor, placed->initTrialActor());
  auto cores = placed->initCores(static_cast<unsigned>(lease.cores.size()));
  for (unsigned i = 0; i < lease.cores.size(); ++i) cores.set(i, static_cast<std::uint32_t>(lease.cores[i]));
  placed->setWorker(parts_.name.c_str());
  placed->setLeaseId(static_cast<std::uint64_t>(host.pid));
  placed->setWaitSeconds(to_seconds(clock().now() - request.arrived));
  leases_[host.pid] = std::move(lease);
  request.answer.reply(std::move(placed));
}

void WorkerActor::top_up(const std::string& environment, int wanted) {
  Pool& pool = pools_[environment];
  while (static_cast<int>(pool.warm.size()) + pool.coming < wanted) {
    if (auto requested = parts_.hosts.request(environment); !requested) {
      return host_failed(environment, requested.error());
    }
    ++pool.coming;
  }
}

void WorkerActor::release(std::uint64_t lease_id) {
  const auto found = leases_.find(static_cast<std::int64_t>(lease_id));
  if (found == leases_.end() || found->second.released) return;  // its host has ended meanwhile
  found->second.released = true;
  parts_.hosts.dismiss(found->first);
}

void WorkerActor::host_ready(schemas::HostReady::Reader ready) {
  const std::string environment = ready.getEnvironment().cStr();
  if (ready.hasFailure()) return hosts_unavailable(environment, read_failure(ready.getFailure()));
  Pool& pool = pools_[environment];
  if (std::erase(gone_, ready.getPid()) > 0) return;  // it ended before it could say so
  pool.coming = std::max(0, pool.coming - 1);
  pool.failures = 0;
  gone_.clear();  // what they would have said has come by now, and their pids may be given again
  pool.warm.push_back({ready.getPid(), runtime::from_address(ready.getTrialActor())});
  log().debug("host {} is warm after {:.0f} ms", ready.getPid(), ready.getWarmSeconds() * 1e3);
  serve();
}

void WorkerActor::host_exited(schemas::HostExited::Reader exited) {
  const std::int64_t pid = exited.getPid();
  const auto found = leases_.find(pid);
  if (found == leases_.end()) {
    const std::string environment = exited.getEnvironment().cStr();
    Pool& pool = pools_[environment];
    if (std::erase_if(pool.warm, [pid](const WarmHost& host) { return host.pid == pid; }) > 0) return serve();
    // It never became ready: nothing else will tell those who wait for it.
    pool.coming = std::max(0, pool.coming - 1);
    gone_.push_back(pid);
    if (gone_.size() > kGoneHosts) gone_.pop_front();
    if (waiting_.empty()) return;
    return host_failed(environment, {ErrorCode::unavailable, fmt::format("a trial host ended before it was ready: {}",
                                                                         std::string(exited.getDetail().cStr()))});
  }
  const Lease lease = std::move(found->second);
  leases_.erase(found);
  free_cores_.insert(lease.cores.begin(), lease.cores.end());
  free_memory_bytes_ += lease.memory_bytes;
  if (!lease.released) {
    auto lost = make_message<schemas::TrialHostLost>();
    lost->setLeaseId(static_cast<std::uint64_t>(pid));
    lost->setTrial(lease.trial);
    lost->setCause(exited.getCause());
    lost->setDetail(exited.getDetail());
    if (auto sent = send(lease.study, std::move(lost)); !sent) {
      log().warning("trial {}: its study was not told of the loss of its host: {}", lease.trial,
                    sent.error().message());
    }
  }
  serve();
}

void WorkerActor::host_failed(const std::string& environment, const Error& why) {
  Pool& pool = pools_[environment];
  if (++pool.failures > kPlacementRetries) return hosts_unavailable(environment, why);
  log().warning("{}; trying again", why.message());
  after(kPlacementBackoff * pool.failures, [this] { serve(); });
}

void WorkerActor::hosts_unavailable(const std::string& environment, const Error& why) {
  pools_[environment].coming = 0;
  pools_[environment].failures = 0;
  for (auto request = waiting_.begin(); request != waiting_.end();) {
    if (request->environment != environment) {
      ++request;
      continue;
    }
    request->answer.reply_error(why);
    request = waiting_.erase(request);
  }
}

}  // namespace tandem::actors
