#include "runtime/actor/node_links.hpp"

#include <algorithm>
#include <utility>

#include "runtime/actor/core.hpp"
#include "runtime/wire/remote_error.hpp"

namespace tandem::runtime {
namespace {

capnp::Text::Reader shortened(const std::string& text, std::string& keep) {
  keep = text.substr(0, limits::kErrorTextBytes);
  return {keep.c_str(), keep.size()};
}

/// Writes what the kind of the envelope says. Nothing for kinds that stay in a process.
bool write_head(schemas::RemoteEnvelope::Builder head, Envelope& envelope) {
  std::string keep;
  head.setTarget(envelope.target.local);
  head.setSender(envelope.sender.local);
  head.setCorrelation(envelope.ask_id);
  head.setType(envelope.type_id);
  switch (envelope.kind) {
    case EnvelopeKind::message:
      head.setDeliver();
      return true;
    case EnvelopeKind::reply:
      head.setReply();
      return true;
    case EnvelopeKind::monitor:
      head.setMonitor();
      return true;
    case EnvelopeKind::demonitor:
      head.setDemonitor();
      return true;
    case EnvelopeKind::error:
      write_error(head.initError(), envelope.control->error);
      return true;
    case EnvelopeKind::down: {
      auto down = head.initDown();
      down.setCause(static_cast<std::uint16_t>(envelope.control->down.cause));
      down.setDetail(shortened(envelope.control->down.detail, keep));
      return true;
    }
    case EnvelopeKind::link_lost:
    case EnvelopeKind::start:
    case EnvelopeKind::stop:
    case EnvelopeKind::kill:
    case EnvelopeKind::call:
      break;
  }
  return false;
}

/// A head message on the stack.
struct Head {
  capnp::word scratch[64]{};
  capnp::MallocMessageBuilder message{kj::arrayPtr(scratch, 64)};
  schemas::RemoteEnvelope::Builder root = message.initRoot<schemas::RemoteEnvelope>();
};

Result<> send_head(Connection& connection, Head& head) {
  capnp::MessageBuilder* const messages[] = {&head.message};
  return connection.send(FrameClass::control, messages);
}

}  // namespace

NodeLinks::NodeLinks(Core& core, Transport& transport, std::function<void(std::byte*, std::size_t)> nonce)
    : core_(core), transport_(transport), nonce_(std::move(nonce)) {}

NodeLinks::~NodeLinks() { abandon(); }

// ---- connections

Result<std::string> NodeLinks::listen(const std::string& address) {
  if (core_.options().token.empty()) {
    return fail(ErrorCode::failed_precondition, "cannot listen at {}: the runtime was given no token", address);
  }
  auto listener = transport_.listen(address, [this](Result<std::shared_ptr<Stream>> stream) {
    if (!stream) return core_.log().warning("a connection is refused: {}", stream.error().message());
    greet(std::move(*stream), Purpose::messages, false, [this](Result<GreetedStream> greeted) {
      if (!greeted) return core_.log().info("a connection is refused: {}", greeted.error().message());
      accepted(std::move(*greeted));
    });
  });
  if (!listener) return forward_error(listener);
  std::string listening = (*listener)->address();
  const std::lock_guard lock(mutex_);
  listeners_.push_back(std::move(*listener));
  if (advertised_.empty()) advertised_ = listening;
  return listening;
}

void NodeLinks::connect(const std::string& address, std::function<void(Result<NodeId>)> done) {
  if (core_.options().token.empty()) {
    return core_.scheduler().post([address, done = std::move(done)] {
      done(fail(ErrorCode::failed_precondition, "cannot connect to {}: the runtime was given no token", address));
    });
  }
  transport_.connect(address, [this, address, done = std::move(done)](Result<std::shared_ptr<Stream>> stream) {
    if (!stream) return done(forward_error(stream));
    greet(std::move(*stream), Purpose::messages, true, [this, address, done](Result<GreetedStream> greeted) {
      if (!greeted) return done(forward_error(greeted));
      done(open_link(std::move(*greeted), address));
    });
  });
}

void NodeLinks::greet(std::shared_ptr<Stream> stream, Purpose purpose, bool initiator, OnGreeted done) {
  GreetingOptions options;
  options.self.node = core_.options().node;
  options.self.incarnation = core_.options().incarnation;
  options.self.purpose = purpose;
  options.token = core_.options().token;
  options.initiator = initiator;
  std::shared_ptr<Greeting> greeting;
  Result<> allowed;
  {
    const std::lock_guard lock(mutex_);
    nonce_(options.self.nonce.data(), options.self.nonce.size());
    if (closing_) allowed = fail(ErrorCode::unavailable, "the node shuts down");
    if (links_.size() + greetings_.size() >= limits::kConnections) {
      allowed = fail(ErrorCode::resource_exhausted, "{} connections are open already", limits::kConnections);
    }
    if (!initiator && accepted_greetings_ >= limits::kUnauthenticatedConnections) {
      allowed = fail(ErrorCode::resource_exhausted, "{} connections have not shown the token yet",
                     limits::kUnauthenticatedConnections);
    }
    if (allowed) {
      const std::uint64_t number = next_number_++;
      Greeting::Events events;
      events.introduce = [this, initiator](const Hello& peer, const Introduction*) {
        return introduce(peer, initiator);
      };
      events.done = [this, number, initiator, done](Result<GreetedStream> greeted) {
        {
          const std::lock_guard relock(mutex_);
          greetings_.erase(number);
          if (!initiator) --accepted_greetings_;
          changed_.notify_all();
        }
        done(std::move(greeted));
      };
      greeting = std::make_shared<Greeting>(stream, transport_, std::move(options), std::move(events));
      greetings_[number] = greeting;
      if (!initiator) ++accepted_greetings_;
    }
  }
  if (!allowed) {
    stream->close();
    return done(forward_error(allowed));
  }
  greeting->start();
}

Result<Introduction> NodeLinks::introduce(const Hello& peer, bool initiator) const {
  const std::lock_guard lock(mutex_);
  const NodeId node{peer.node, peer.incarnation};
  if (peer.purpose == Purpose::messages) {
    if (auto admitted = admit_locked(node); !admitted) return forward_error(admitted);
  } else if (!initiator) {
    const auto known = by_node_.find(node.node);
    if (known == by_node_.end() || known->second->node != node) {
      return fail(ErrorCode::failed_precondition, "node {}.{} is not connected", node.node, node.incarnation);
    }
    if (!takers_.contains(peer.purpose)) {
      return fail(ErrorCode::failed_precondition, "this node takes no streams for {}", to_string(peer.purpose));
    }
  }
  const auto& options = core_.options();
  return Introduction{options.name, options.advertise.empty() ? advertised_ : options.advertise};
}

Result<> NodeLinks::admit_locked(NodeId node) const {
  if (closing_) return fail(ErrorCode::unavailable, "the node shuts down");
  if (node.node == core_.options().node) {
    return fail(ErrorCode::invalid_argument, "node {} meets another that bears its number", node.node);
  }
  const auto known = by_node_.find(node.node);
  if (known == by_node_.end()) return {};
  const NodeId before = known->second->node;
  if (before.incarnation > node.incarnation) {
    return fail(ErrorCode::failed_precondition, "node {} comes as incarnation {}, but {} is known", node.node,
                node.incarnation, before.incarnation);
  }
  if (before.incarnation == node.incarnation) {
    return fail(ErrorCode::already_exists, "node {} is connected already", node.node);
  }
  return {};
}

void NodeLinks::accepted(GreetedStream greeted) {
  if (greeted.peer.purpose == Purpose::messages) {
    if (auto opened = open_link(std::move(greeted), {}); !opened) {
      core_.log().info("a connection is refused: {}", opened.error().message());
    }
    return;
  }
  Runtime::TakeStream take;
  {
    const std::lock_guard lock(mutex_);
    take = takers_[greeted.peer.purpose];
  }
  take({greeted.peer.node, greeted.peer.incarnation}, std::move(greeted.stream));
}

/// `address`: where the node was reached, if this side connected.
Result<NodeId> NodeLinks::open_link(GreetedStream greeted, std::string address) {
  auto link = std::make_shared<Link>();
  link->node = {greeted.peer.node, greeted.peer.incarnation};
  link->address = address.empty() ? greeted.introduction.address : std::move(address);
  LinkPtr replaced;
  std::vector<std::function<void(NodeId)>> tell;
  {
    const std::lock_guard lock(mutex_);
    if (auto admitted = admit_locked(link->node); !admitted) {
      greeted.stream->close();
      return forward_error(admitted);
    }
    if (const auto known = by_node_.find(link->node.node); known != by_node_.end()) replaced = known->second;
    link->number = next_number_++;
    Connection::Events events;
    events.on_frame = [this, link](const FrameHeader&, const FrameBody& body) { return received(link, body); };
    events.on_closed = [this, link](const Error& why) { closed(link, why); };
    link->connection = std::make_shared<Connection>(std::move(greeted.stream), link->node.node, std::move(events));
    links_[link->number] = link;
    by_node_[link->node.node] = link;
    tell = on_up_;
  }
  if (replaced) replaced->connection->close({ErrorCode::unavailable, "a later incarnation of the node has come"});
  core_.log().info("node {}.{} '{}' is connected", link->node.node, link->node.incarnation, greeted.introduction.name);
  for (const auto& each : tell) each(link->node);
  link->connection->start();
  return link->node;
}

void NodeLinks::closed(const LinkPtr& link, const Error& why) {
  std::map<std::uint64_t, std::function<void(Result<ActorRef>)>> lookups;
  std::vector<std::function<void(NodeId, const Error&)>> tell;
  {
    const std::lock_guard lock(mutex_);
    links_.erase(link->number);
    if (const auto known = by_node_.find(link->node.node); known != by_node_.end() && known->second == link) {
      by_node_.erase(known);
    }
    lookups = std::exchange(link->lookups, {});
    tell = on_down_;
    changed_.notify_all();
  }
  core_.log().info("node {}.{} is lost: {}", link->node.node, link->node.incarnation, why.message());
  core_.link_lost(link->number, link->node, why.message());
  for (const auto& each : tell) each(link->node, why);
  for (const auto& [number, done] : lookups) done(fail(ErrorCode::unavailable, "node {} is lost", link->node.node));
}

// ---- streams of other purposes

void NodeLinks::accept_streams(Purpose purpose, Runtime::TakeStream take) {
  const std::lock_guard lock(mutex_);
  takers_[purpose] = std::move(take);
}

void NodeLinks::open_stream(std::uint64_t node, Purpose purpose, Transport::OnStream done) {
  const LinkPtr link = find(node);
  if (!link || link->address.empty()) {
    return core_.scheduler().post([node, known = link != nullptr, done = std::move(done)] {
      done(fail(ErrorCode::unavailable, "{} node {}", known ? "no address is known of" : "no connection to", node));
    });
  }
  transport_.connect(link->address, [this, link, purpose, done = std::move(done)](auto stream) {
    if (!stream) return done(forward_error(stream));
    greet(std::move(*stream), purpose, true, [link, done](Result<GreetedStream> greeted) {
      if (!greeted) return done(forward_error(greeted));
      if (NodeId{greeted->peer.node, greeted->peer.incarnation} != link->node) {
        greeted->stream->close();
        return done(fail(ErrorCode::unavailable, "another node than {} answers at {}", link->node.node, link->address));
      }
      done(std::move(greeted->stream));
    });
  });
}

NodeLinks::LinkPtr NodeLinks::find(std::uint64_t node) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_node_.find(node);
  return found != by_node_.end() ? found->second : nullptr;
}

void NodeLinks::disconnect(std::uint64_t node, const std::string& why) {
  if (const auto link = find(node)) link->connection->close({ErrorCode::cancelled, why});
}

void NodeLinks::fail_link(std::uint64_t number, const std::string& what) {
  LinkPtr link;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = links_.find(number); found != links_.end()) link = found->second;
  }
  if (!link) return;
  core_.log().error("node {} sent a damaged message: {}", link->node.node, what);
  link->connection->close({ErrorCode::data_loss, fmt::format("the peer sent a damaged message: {}", what)});
}

void NodeLinks::on_node_up(std::function<void(NodeId)> tell) {
  const std::lock_guard lock(mutex_);
  on_up_.push_back(std::move(tell));
}
void NodeLinks::on_node_down(std::function<void(NodeId, const Error&)> tell) {
  const std::lock_guard lock(mutex_);
  on_down_.push_back(std::move(tell));
}

// ---- sending

Result<std::uint64_t> NodeLinks::route(EnvelopePtr& envelope) {
  const ActorRef target = envelope->target;
  const LinkPtr link = find(target.node);
  if (!link) return fail(ErrorCode::unavailable, "no connection to node {}", target.node);
  if (link->node.incarnation != target.incarnation) {
    return fail(ErrorCode::unavailable, "actor {} belonged to another life of its node, which is {} now",
                to_string(target), link->node.incarnation);
  }
  Head head;
  if (!write_head(head.root, *envelope)) return fail(ErrorCode::internal, "this message does not travel");
  Result<> sent;
  if (envelope->kind == EnvelopeKind::message || envelope->kind == EnvelopeKind::reply) {
    capnp::MessageBuilder* const messages[] = {&head.message, &envelope->content()};
    sent = link->connection->send(FrameClass::message, messages);
  } else {
    sent = send_head(*link->connection, head);
  }
  if (!sent) return forward_error(sent, envelope->type_name != nullptr ? envelope->type_name() : "control message");
  envelope.reset();
  return link->number;
}

// ---- receiving

Result<> NodeLinks::received(const LinkPtr& link, const FrameBody& body) {
  const MessageSegments segments = body.message(0);
  capnp::SegmentArrayMessageReader reader(segments, received_options(segments));
  return received_envelope(link, reader.getRoot<schemas::RemoteEnvelope>(), body);
}

Result<> NodeLinks::received_envelope(const LinkPtr& link, schemas::RemoteEnvelope::Reader remote,
                                      const FrameBody& body) {
  using Which = schemas::RemoteEnvelope::Which;
  const bool carries = remote.which() == Which::DELIVER || remote.which() == Which::REPLY;
  if (body.messages() != (carries ? 2U : 1U)) {
    return fail(ErrorCode::data_loss, "frame: {} messages where its kind takes {}", body.messages(), carries ? 2 : 1);
  }
  EnvelopePtr envelope = make_envelope(EnvelopeKind::message);
  envelope->target = {core_.options().node, core_.options().incarnation, remote.getTarget()};
  envelope->sender = {link->node.node, link->node.incarnation, remote.getSender()};
  envelope->ask_id = remote.getCorrelation();
  envelope->type_id = remote.getType();
  envelope->link = link->number;
  switch (remote.which()) {
    case Which::DELIVER:
    case Which::REPLY: {
      // The copy checks every pointer; what remains to be found when a field is read is a value of the wrong kind.
      capnp::SegmentArrayMessageReader payload(body.message(1), received_options(body.message(1)));
      envelope->content().getRoot<capnp::AnyPointer>().set(payload.getRoot<capnp::AnyPointer>());
      if (remote.which() == Which::REPLY) envelope->kind = EnvelopeKind::reply;
      break;
    }
    case Which::ERROR:
      envelope->kind = EnvelopeKind::error;
      envelope->controls().error = read_error(remote.getError());
      break;
    case Which::MONITOR:
      envelope->kind = EnvelopeKind::monitor;
      break;
    case Which::DEMONITOR:
      envelope->kind = EnvelopeKind::demonitor;
      break;
    case Which::DOWN: {
      envelope->kind = EnvelopeKind::down;
      const auto down = remote.getDown();
      const std::uint16_t cause = down.getCause();
      envelope->controls().down = {envelope->sender,
                                   cause < kDownCauses ? static_cast<DownCause>(cause) : DownCause::failed,
                                   std::string(down.getDetail().begin(), down.getDetail().size())};
      break;
    }
    case Which::LOOKUP:
      answer_lookup(link, remote.getCorrelation(), {remote.getLookup().begin(), remote.getLookup().size()});
      return {};
    case Which::FOUND:
      found(link, remote.getCorrelation(), remote.getFound());
      return {};
    case Which::GOODBYE:
      return fail(ErrorCode::unavailable, "the peer shut down in good order");
    default:
      return fail(ErrorCode::data_loss, "an envelope of unknown kind {}", static_cast<int>(remote.which()));
  }
  received_message(link, std::move(envelope));
  return {};
}

void NodeLinks::received_message(const LinkPtr& link, EnvelopePtr envelope) {
  const bool plain = envelope->kind == EnvelopeKind::message;
  const EnvelopeKind kind = envelope->kind;
  const ActorRef target = envelope->target, sender = envelope->sender;
  const std::uint64_t ask_id = envelope->ask_id;
  const auto delivered = core_.deliver_here(envelope, plain ? Lane::user : Lane::reserved);
  if (delivered) return;
  if (plain && ask_id != 0) return core_.answer_error(target, sender, ask_id, delivered.error());
  if (kind == EnvelopeKind::monitor) {
    return core_.tell_down(sender, {target, DownCause::stopped, "was not alive when it was to be watched"});
  }
  if (plain) {
    core_.log().warning("a message from node {} is dropped: {}", link->node.node, delivered.error().message());
  }
}

// ---- names

void NodeLinks::remote(std::uint64_t node, const std::string& name, Duration deadline,
                       std::function<void(Result<ActorRef>)> done) {
  const LinkPtr link = find(node);
  if (!link) {
    return core_.scheduler().post(
        [node, done = std::move(done)] { done(fail(ErrorCode::unavailable, "no connection to node {}", node)); });
  }
  std::uint64_t correlation = 0;
  {
    const std::lock_guard lock(mutex_);
    correlation = next_lookup_++;
    link->lookups[correlation] = std::move(done);
  }
  transport_.after(deadline, [this, link, correlation, name] { lookup_timed_out(link, correlation, name); });
  Head head;
  head.root.setCorrelation(correlation);
  head.root.setLookup(name.c_str());
  if (!send_head(*link->connection, head)) {
    core_.scheduler().post([this, link, correlation] { found(link, correlation, 0); });
  }
}

void NodeLinks::answer_lookup(const LinkPtr& link, std::uint64_t correlation, const std::string& name) {
  Head head;
  head.root.setCorrelation(correlation);
  head.root.setFound(core_.lookup(name).local);
  (void)send_head(*link->connection, head);  // a connection that takes no more is about to end
}

void NodeLinks::found(const LinkPtr& link, std::uint64_t correlation, std::uint64_t local) {
  std::function<void(Result<ActorRef>)> done;
  {
    const std::lock_guard lock(mutex_);
    const auto pending = link->lookups.find(correlation);
    if (pending == link->lookups.end()) return;
    done = std::move(pending->second);
    link->lookups.erase(pending);
  }
  if (local == 0) return done(fail(ErrorCode::not_found, "node {} knows no actor of that name", link->node.node));
  done(ActorRef{link->node.node, link->node.incarnation, local});
}

void NodeLinks::lookup_timed_out(const LinkPtr& link, std::uint64_t correlation, const std::string& name) {
  std::function<void(Result<ActorRef>)> done;
  {
    const std::lock_guard lock(mutex_);
    const auto pending = link->lookups.find(correlation);
    if (pending == link->lookups.end()) return;
    done = std::move(pending->second);
    link->lookups.erase(pending);
  }
  done(fail(ErrorCode::deadline_exceeded, "node {} did not say in time who '{}' is", link->node.node, name));
}

// ---- the end

void NodeLinks::begin_shutdown() {
  std::vector<std::unique_ptr<Listener>> listeners;
  std::vector<LinkPtr> links;
  std::map<std::uint64_t, std::shared_ptr<Greeting>> greetings;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    listeners = std::exchange(listeners_, {});
    greetings = greetings_;
    for (const auto& [number, link] : links_) links.push_back(link);
  }
  for (const auto& [number, greeting] : greetings) greeting->cancel();
  for (const auto& link : links) {
    Head head;
    head.root.setGoodbye();
    (void)send_head(*link->connection, head);
    link->connection->close_when_written({ErrorCode::cancelled, "this node shuts down"});
  }
}

void NodeLinks::await_shutdown(std::chrono::nanoseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [this] { return links_.empty() && greetings_.empty(); });
}

void NodeLinks::abandon() {
  std::vector<std::unique_ptr<Listener>> listeners;
  std::map<std::uint64_t, LinkPtr> links;
  std::map<std::uint64_t, std::shared_ptr<Greeting>> greetings;
  std::map<Purpose, Runtime::TakeStream> takers;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    listeners = std::exchange(listeners_, {});
    links = std::exchange(links_, {});
    greetings = std::exchange(greetings_, {});
    takers = std::exchange(takers_, {});
    by_node_.clear();
  }
  for (const auto& [number, greeting] : greetings) greeting->abandon();
  for (const auto& [number, link] : links) {
    link->connection->abandon();
    const auto dropped = std::exchange(link->lookups, {});
  }
}

}  // namespace tandem::runtime
