#include "runtime/wire/connection.hpp"

#include <kj/exception.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/base/limits.hpp"

namespace tandem::runtime {

Connection::Connection(std::shared_ptr<Stream> stream, Transport& transport, ConnectionOptions options, Events events)
    : stream_(std::move(stream)),
      transport_(transport),
      options_(std::move(options)),
      own_hello_(encode_hello(options_.self)),
      words_(limits::kReadBytes / sizeof(std::uint64_t)),
      events_(std::move(events)) {}

Connection::~Connection() { stream_->close(); }

void Connection::start() {
  transport_.after(limits::kHandshakeDeadline, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    {
      const std::lock_guard lock(self->mutex_);
      if (self->state_ == State::open || self->state_ == State::closed) return;
    }
    self->close({ErrorCode::deadline_exceeded, "the peer did not finish its greeting in time"});
  });
  if (options_.initiator) write_raw(own_hello_);
  read_more();
}

// ---- reading

void Connection::read_more() {
  make_room(1);
  stream_->read({buffer() + end_, words_.size() * sizeof(std::uint64_t) - end_},
                [self = shared_from_this()](Result<std::size_t> count) { self->on_read(std::move(count)); });
}

void Connection::on_read(Result<std::size_t> count) {
  if (!count) {
    bool proving = false;
    {
      const std::lock_guard lock(mutex_);
      proving = state_ == State::proving && options_.initiator;
    }
    close(proving ? Error(ErrorCode::permission_denied, "the peer closed the connection instead of accepting the token")
                  : count.error());
    return finish();
  }
  end_ += *count;
  Result<> consumed;
  try {
    consumed = consume();
  } catch (const kj::Exception& damage) {
    consumed = fail(ErrorCode::data_loss, "the peer sent a damaged message: {}", damage.getDescription().cStr());
  }
  if (!consumed) close(consumed.error());
  bool closed = false;
  {
    const std::lock_guard lock(mutex_);
    closed = state_ == State::closed;
  }
  if (closed) return finish();
  read_more();
}

Result<> Connection::consume() {
  for (;;) {
    State state;
    {
      const std::lock_guard lock(mutex_);
      state = state_;
    }
    Result<bool> more = false;
    switch (state) {
      case State::greeting:
        more = consume_hello();
        break;
      case State::proving:
        more = consume_proof();
        break;
      case State::open:
        more = consume_frame();
        break;
      case State::closed:
        break;
    }
    if (!more) return forward_error(more);
    if (!*more) return {};
  }
}

Result<bool> Connection::consume_hello() {
  if (buffered() < kHelloBytes) return false;
  std::memcpy(peer_hello_bytes_.data(), buffer() + begin_, kHelloBytes);
  begin_ += kHelloBytes;
  auto peer = decode_hello(peer_hello_bytes_);
  if (!peer) return forward_error(peer);
  peer_ = *peer;
  if (options_.initiator) {
    write_raw(make_proof(options_.token, ProofRole::initiator, own_hello_, peer_hello_bytes_));
  } else {
    write_raw(own_hello_);
  }
  const std::lock_guard lock(mutex_);
  if (state_ == State::greeting) state_ = State::proving;
  return true;
}

Result<bool> Connection::consume_proof() {
  if (buffered() < kProofBytes) return false;
  Proof shown;
  std::memcpy(shown.data(), buffer() + begin_, kProofBytes);
  begin_ += kProofBytes;
  const auto& initiator = options_.initiator ? own_hello_ : peer_hello_bytes_;
  const auto& acceptor = options_.initiator ? peer_hello_bytes_ : own_hello_;
  const ProofRole peer_role = options_.initiator ? ProofRole::acceptor : ProofRole::initiator;
  if (!equal_proofs(shown, make_proof(options_.token, peer_role, initiator, acceptor))) {
    return fail(ErrorCode::permission_denied, "node {} does not hold the token", peer_.node);
  }
  if (!options_.initiator) write_raw(make_proof(options_.token, ProofRole::acceptor, initiator, acceptor));
  {
    const std::lock_guard lock(mutex_);
    if (state_ == State::proving) state_ = State::open;
  }
  const std::lock_guard lock(events_mutex_);
  if (abandoned_) return false;
  if (auto opened = events_.on_open(peer_); !opened) return forward_error(opened);
  return true;
}

Result<bool> Connection::consume_frame() {
  if (buffered() < kFrameHeaderBytes) return false;
  const auto header_bytes = std::span<const std::byte, kFrameHeaderBytes>(buffer() + begin_, kFrameHeaderBytes);
  const auto header = parse_frame_header(header_bytes);
  if (!header) return forward_error(header);
  if (header->sequence != received_ + 1) {
    return fail(ErrorCode::data_loss, "frame: number {} follows {}", header->sequence, received_);
  }
  const std::size_t whole = kFrameHeaderBytes + header->body_bytes;
  if (buffered() < whole) {
    make_room(whole - buffered());
    return false;
  }
  if (auto parsed = body_.parse(header_bytes, {buffer() + begin_ + kFrameHeaderBytes, header->body_bytes}); !parsed) {
    return forward_error(parsed);
  }
  {
    const std::lock_guard lock(mutex_);
    ++received_;
  }
  {
    const std::lock_guard lock(events_mutex_);
    if (abandoned_) return false;
    if (auto taken = events_.on_frame(*header, body_); !taken) return forward_error(taken);
  }
  begin_ += whole;
  return true;
}

/// Makes place for at least some of `bytes` more. A large frame's memory is taken as its bytes arrive, so that a peer
/// pays for what it announces.
void Connection::make_room(std::size_t bytes) {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    if (words_.size() * sizeof(std::uint64_t) > limits::kReadBytes * 4) {  // a large frame has passed
      words_ = std::vector<std::uint64_t>(limits::kReadBytes / sizeof(std::uint64_t));
    }
  }
  const std::size_t capacity = words_.size() * sizeof(std::uint64_t);
  if (capacity - end_ >= bytes) return;
  if (begin_ > 0) {
    std::memmove(buffer(), buffer() + begin_, buffered());
    end_ -= begin_;
    begin_ = 0;
  }
  if (capacity - end_ >= bytes) return;
  if (end_ * 2 < capacity) return;  // there is place to read into; grow once it is filled
  const std::size_t wanted = std::min(end_ + bytes, capacity * 2);
  words_.resize((std::max(wanted, capacity) + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
}

// ---- writing

Result<> Connection::send(FrameClass frame_class, std::span<capnp::MessageBuilder* const> messages) {
  const std::lock_guard lock(mutex_);
  if (state_ != State::open || close_when_written_) return tl::unexpected<Error>(why_);
  if (waiting_.size() + writing_.size() > limits::kConnectionQueueBytes) {
    return fail(ErrorCode::resource_exhausted, "{} bytes wait to be written to node {}; at most {} may",
                waiting_.size() + writing_.size(), peer_.node, limits::kConnectionQueueBytes);
  }
  if (auto added = append_frame(waiting_, frame_class, {sent_ + 1, received_}, messages); !added) return added;
  ++sent_;
  write_next_locked();
  return {};
}

void Connection::write_raw(std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::closed) return;
  waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
  write_next_locked();
}

void Connection::write_next_locked() {
  if (write_under_way_ || waiting_.empty()) return;
  write_under_way_ = true;
  std::swap(waiting_, writing_);
  stream_->write(writing_,
                 [self = shared_from_this()](Result<std::size_t> count) { self->on_written(std::move(count)); });
}

void Connection::on_written(Result<std::size_t> count) {
  std::unique_lock lock(mutex_);
  write_under_way_ = false;
  writing_.clear();
  if (writing_.capacity() > limits::kReadBytes * 4) writing_ = {};
  if (!count) {
    lock.unlock();
    return close(count.error());
  }
  if (state_ == State::closed) return;
  write_next_locked();
  if (!write_under_way_ && close_when_written_) {
    const Error why = why_;
    lock.unlock();
    close(why);
  }
}

// ---- closing

void Connection::close(Error why) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ == State::closed) return;
    state_ = State::closed;
    if (!close_when_written_) why_ = std::move(why);
  }
  stream_->close();
}

void Connection::close_when_written(Error why) {
  {
    const std::lock_guard lock(mutex_);
    if (state_ == State::closed || close_when_written_) return;
    why_ = why;
    if (write_under_way_) {
      close_when_written_ = true;
      return;
    }
  }
  close(std::move(why));
}

void Connection::finish() {
  const std::lock_guard lock(events_mutex_);
  if (std::exchange(finished_, true) || abandoned_) return;
  Error why = [this] {
    const std::lock_guard state_lock(mutex_);
    return why_;
  }();
  events_.on_closed(why);
  events_ = {};
}

void Connection::abandon() {
  {
    const std::lock_guard lock(events_mutex_);
    abandoned_ = true;
    events_ = {};
  }
  close({ErrorCode::cancelled, "the node shuts down"});
}

}  // namespace tandem::runtime
