#include "runtime/wire/greeting.hpp"

#include <kj/exception.h>

#include <optional>
#include <utility>

#include "runtime/base/limits.hpp"
#include "runtime/wire/remote_error.hpp"
#include "schemas/wire.capnp.h"

namespace tandem::runtime {
namespace {

Result<> append_introduction(std::vector<std::byte>& out, capnp::MessageBuilder& message) {
  capnp::MessageBuilder* const messages[] = {&message};
  return append_frame(out, FrameClass::control, {0, 0}, messages);
}

}  // namespace

Greeting::Greeting(std::shared_ptr<Stream> stream, Transport& transport, GreetingOptions options, Events events)
    : stream_(std::move(stream)),
      transport_(transport),
      options_(std::move(options)),
      own_hello_(encode_hello(options_.self)),
      events_(std::move(events)) {}

void Greeting::start() {
  transport_.after(limits::kHandshakeDeadline, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    {
      const std::lock_guard lock(self->mutex_);
      if (!self->events_.done) return;
      self->late_ = true;
    }
    self->stream_->close();  // what is under way ends with an error
  });
  if (options_.initiator) return write(own_hello_, &Greeting::read_hello);
  read_hello();
}

void Greeting::abandon() {
  Events dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped = std::exchange(events_, {});
  }
  stream_->close();
}

// ---- bytes

void Greeting::read(std::span<std::byte> into, Step then) {
  stream_->read(into, [self = shared_from_this(), into, then](Result<std::size_t> count) {
    if (!count) return self->fail_with(count.error());
    if (*count < into.size()) return self->read(into.subspan(*count), then);
    (self.get()->*then)();
  });
}

void Greeting::write(std::span<const std::byte> bytes, Step then) {
  stream_->write(bytes, [self = shared_from_this(), then](Result<std::size_t> count) {
    if (!count) return self->fail_with(count.error());
    (self.get()->*then)();
  });
}

// ---- the hellos and the proofs

void Greeting::read_hello() { read(peer_hello_, &Greeting::hello_read); }

void Greeting::hello_read() {
  auto peer = decode_hello(peer_hello_);
  if (!peer) return fail_with(peer.error());
  peer_ = *peer;
  if (options_.initiator) {
    if (peer_.purpose != options_.self.purpose) {
      return fail_with({ErrorCode::data_loss, "the peer answered for another purpose"});
    }
    const Proof proof = make_proof(options_.token, ProofRole::initiator, own_hello_, peer_hello_);
    writing_.assign(proof.begin(), proof.end());
    return write(writing_, &Greeting::read_proof);
  }
  Hello own = options_.self;
  own.purpose = peer_.purpose;
  own_hello_ = encode_hello(own);
  write(own_hello_, &Greeting::read_proof);
}

void Greeting::read_proof() { read(proof_, &Greeting::proof_read); }

void Greeting::proof_read() {
  const auto& initiator = options_.initiator ? own_hello_ : peer_hello_;
  const auto& acceptor = options_.initiator ? peer_hello_ : own_hello_;
  const ProofRole peer_role = options_.initiator ? ProofRole::acceptor : ProofRole::initiator;
  if (!equal_proofs(proof_, make_proof(options_.token, peer_role, initiator, acceptor))) {
    return fail_with({ErrorCode::permission_denied, fmt::format("node {} does not hold the token", peer_.node)});
  }
  proven_ = true;
  if (options_.initiator) return introduce();
  const Proof proof = make_proof(options_.token, ProofRole::acceptor, initiator, acceptor);
  writing_.assign(proof.begin(), proof.end());
  write(writing_, &Greeting::read_introduction);
}

// ---- the introductions

void Greeting::introduce() {
  std::optional<Result<Introduction>> own;
  {
    const std::lock_guard lock(mutex_);
    if (!events_.introduce) return;
    own.emplace(events_.introduce(peer_, options_.initiator ? nullptr : &theirs_));
  }
  if (!*own) return options_.initiator ? fail_with(own->error()) : refuse(own->error());
  capnp::MallocMessageBuilder message;
  auto accepted = message.initRoot<schemas::Introduction>().initAccepted();
  accepted.setName((*own)->name.c_str());
  accepted.setAddress((*own)->address.c_str());
  writing_.clear();
  if (auto added = append_introduction(writing_, message); !added) return fail_with(added.error());
  write(writing_, options_.initiator ? &Greeting::read_introduction : &Greeting::complete);
}

void Greeting::refuse(const Error& why) {
  capnp::MallocMessageBuilder message;
  write_error(message.initRoot<schemas::Introduction>().initRefused(), why);
  writing_.clear();
  if (auto added = append_introduction(writing_, message); !added) return fail_with(added.error());
  stream_->write(writing_, [self = shared_from_this(), why](const Result<std::size_t>&) { self->fail_with(why); });
}

void Greeting::read_introduction() { read(header_, &Greeting::introduction_header_read); }

void Greeting::introduction_header_read() {
  const auto header = parse_frame_header(header_);
  if (!header) return fail_with(header.error());
  if (header->frame_class != FrameClass::control || header->sequence != 0) {
    return fail_with({ErrorCode::data_loss, "the peer did not introduce itself"});
  }
  body_.resize(header->body_bytes / sizeof(std::uint64_t));
  read(std::as_writable_bytes(std::span(body_)), &Greeting::introduction_read);
}

void Greeting::introduction_read() {
  Result<> taken;
  try {
    taken = take_introduction();
  } catch (const kj::Exception& damage) {
    taken = fail(ErrorCode::data_loss, "the peer's introduction is damaged: {}", damage.getDescription().cStr());
  }
  if (!taken) return fail_with(taken.error());
  options_.initiator ? complete() : introduce();
}

Result<> Greeting::take_introduction() {
  FrameBody body;
  if (auto parsed = body.parse(header_, std::as_bytes(std::span(body_))); !parsed) return parsed;
  capnp::SegmentArrayMessageReader reader(body.message(0), received_options(body.message(0)));
  const auto root = reader.getRoot<schemas::Introduction>();
  if (root.isRefused()) return tl::unexpected<Error>(read_error(root.getRefused()));
  const auto accepted = root.getAccepted();
  theirs_.name = accepted.getName().cStr();
  theirs_.address = accepted.getAddress().cStr();
  return {};
}

void Greeting::complete() { finish(GreetedStream{stream_, peer_, std::move(theirs_)}); }

// ---- the end

void Greeting::fail_with(Error why) {
  stream_->close();
  const bool late = [this] {
    const std::lock_guard lock(mutex_);
    return late_;
  }();
  if (late) {
    why = {ErrorCode::deadline_exceeded, "the peer did not finish its greeting in time"};
  } else if (options_.initiator && peer_.node != 0 && !proven_ && why.code() == ErrorCode::unavailable) {
    why = {ErrorCode::permission_denied, "the peer closed the connection instead of accepting the token"};
  }
  finish(tl::unexpected<Error>(std::move(why)));
}

void Greeting::finish(Result<GreetedStream> result) {
  Events events;  // dropped outside the lock: they may own what waits for it
  const std::lock_guard lock(mutex_);
  events = std::exchange(events_, {});
  if (events.done) events.done(std::move(result));
}

}  // namespace tandem::runtime
