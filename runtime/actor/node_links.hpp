/// NodeLinks: the connections of one runtime to other nodes, and what travels over them. Private to the runtime.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/actor/envelope.hpp"
#include "runtime/actor/runtime.hpp"
#include "runtime/wire/connection.hpp"
#include "runtime/wire/greeting.hpp"
#include "schemas/wire.capnp.h"

namespace tandem::runtime {

class NodeLinks {
 public:
  NodeLinks(Core& core, Transport& transport, std::function<void(std::byte*, std::size_t)> nonce);
  ~NodeLinks();

  Result<std::string> listen(const std::string& address);
  void connect(const std::string& address, std::function<void(Result<NodeId>)> done);
  void disconnect(std::uint64_t node, const std::string& why);
  void remote(std::uint64_t node, const std::string& name, Duration deadline,
              std::function<void(Result<ActorRef>)> done);
  void accept_streams(Purpose purpose, Runtime::TakeStream take);
  void open_stream(std::uint64_t node, Purpose purpose, Transport::OnStream done);
  void on_node_up(std::function<void(NodeId)> tell);
  void on_node_down(std::function<void(NodeId, const Error&)> tell);

  /// Sends over the connection to the envelope's target; returns the connection's number. The envelope is consumed on
  /// success. Errors: unavailable, no connection, or the target is of another incarnation; resource_exhausted.
  Result<std::uint64_t> route(EnvelopePtr& envelope);
  /// A message that came over the connection proved damaged.
  void fail_link(std::uint64_t link, const std::string& what);
  /// Takes no new connection, and ends those there are with a goodbye.
  void begin_shutdown();
  /// Waits until they are gone, at most so long.
  void await_shutdown(std::chrono::nanoseconds patience);
  /// Nothing is called back from here on. The scheduler must be at rest, or be the caller's thread.
  void abandon();

 private:
  struct Link {
    std::uint64_t number = 0;
    NodeId node;
    std::string address;  // where the node takes connections; empty: nowhere
    std::shared_ptr<Connection> connection;
    std::map<std::uint64_t, std::function<void(Result<ActorRef>)>> lookups;
  };
  using LinkPtr = std::shared_ptr<Link>;

  using OnGreeted = std::function<void(Result<GreetedStream>)>;

  /// Greets over a new stream; `done` learns how that went.
  void greet(std::shared_ptr<Stream> stream, Purpose purpose, bool initiator, OnGreeted done);
  void accepted(GreetedStream greeted);
  [[nodiscard]] Result<Introduction> introduce(const Hello& peer, bool initiator) const;
  /// Whether a link to `node` may be opened. Under the lock.
  [[nodiscard]] Result<> admit_locked(NodeId node) const;
  Result<NodeId> open_link(GreetedStream greeted, std::string address);
  void closed(const LinkPtr& link, const Error& why);

  Result<> received(const LinkPtr& link, const FrameBody& body);

  Result<> received_envelope(const LinkPtr& link, schemas::RemoteEnvelope::Reader remote, const FrameBody& body);
  void received_message(const LinkPtr& link, EnvelopePtr envelope);
  void answer_lookup(const LinkPtr& link, std::uint64_t correlation, const std::string& name);
  void found(const LinkPtr& link, std::uint64_t correlation, std::uint64_t local);
  void lookup_timed_out(const LinkPtr& link, std::uint64_t correlation, const std::string& name);
  [[nodiscard]] LinkPtr find(std::uint64_t node) const;

  Core& core_;
  Transport& transport_;
  std::function<void(std::byte*, std::size_t)> nonce_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::string advertised_;  // unless the options name another
  std::map<std::uint64_t, std::shared_ptr<Greeting>> greetings_;
  std::size_t accepted_greetings_ = 0;
  std::map<Purpose, Runtime::TakeStream> takers_;
  std::map<std::uint64_t, LinkPtr> links_;    // all, by their number
  std::map<std::uint64_t, LinkPtr> by_node_;  // those not replaced
  std::uint64_t next_number_ = 1;
  std::uint64_t next_lookup_ = 1;
  bool closing_ = false;
  std::vector<std::function<void(NodeId)>> on_up_;
  std::vector<std::function<void(NodeId, const Error&)>> on_down_;
};

}  // namespace tandem::runtime
