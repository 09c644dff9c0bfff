/// WorkerActor: lends cores and memory. It leases them to trials, never one core twice and never more memory than there
/// is, and keeps warm hosts for them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "actors/worker/host_provider.hpp"
#include "runtime/actor/actor.hpp"
#include "schemas/trial.capnp.h"

namespace tandem::actors {

class WorkerActor final : public runtime::Actor {
 public:
  struct Parts {
    std::string name;
    std::vector<int> processors;    ///< lent
    std::int64_t memory_bytes = 0;  ///< lent
    HostProvider& hosts;            ///< outlives the actor
    int warm_hosts = 1;             ///< kept ready beyond those leased
  };

  explicit WorkerActor(Parts parts);
  void on_start() override;

 private:
  struct Request {
    runtime::Responder answer;
    runtime::ActorRef study;
    std::int64_t trial = 0;
    int cores = 1;
    std::int64_t memory_bytes = 0;  ///< 0: without a limit
    std::string environment;
    MonotonicTime arrived{};
  };
  struct WarmHost {
    std::int64_t pid = 0;
    runtime::ActorRef trial_actor;
  };
  struct Lease {
    runtime::ActorRef study;
    std::int64_t trial = 0;
    std::vector<int> cores;
    std::int64_t memory_bytes = 0;
    bool released = false;
  };
  struct Pool {
    std::deque<WarmHost> warm;
    int coming = 0;    ///< asked for, not here yet
    int failures = 0;  ///< in a row, to make a host
  };

  void place(schemas::PlaceTrial::Reader place, runtime::Incoming& in);
  void release(std::uint64_t lease_id);
  void host_ready(schemas::HostReady::Reader ready);
  void host_exited(schemas::HostExited::Reader exited);
  /// A host could not be made, or ended before it was ready: asks again for a while, then gives up.
  void host_failed(const std::string& environment, const Error& why);
  void hosts_unavailable(const std::string& environment, const Error& why);
  /// Serves waiting requests in their order as far as cores and warm hosts allow.
  void serve();
  void grant(Request request, WarmHost host);
  void top_up(const std::string& environment, int wanted);

  Parts parts_;
  std::set<int> free_cores_;
  std::int64_t free_memory_bytes_;
  std::deque<Request> waiting_;
  std::deque<std::int64_t> gone_;         ///< pids of the latest hosts that ended before they were ready
  std::map<std::string, Pool> pools_;     ///< by environment
  std::map<std::int64_t, Lease> leases_;  ///< by the pid of its host
};

}  // namespace tandem::actors
