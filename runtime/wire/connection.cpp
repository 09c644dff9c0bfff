#include "runtime/wire/connection.hpp"

#include <kj/exception.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/base/limits.hpp"

namespace tandem::runtime {

Connection::Connection(std::shared_ptr<Stream> stream, std::uint64_t peer, Events events)
    : stream_(std::move(stream)),
      peer_(peer),
      words_(limits::kReadBytes / sizeof(std::uint64_t)),
      events_(std::move(events)) {}

Connection::~Connection() { stream_->close(); }

void Connection::start() { read_more(); }

// ---- reading

void Connection::read_more() {
  make_room(1);
  stream_->read({buffer() + end_, words_.size() * sizeof(std::uint64_t) - end_},
                [self = shared_from_this()](Result<std::size_t> count) { self->on_read(std::move(count)); });
}

void Connection::on_read(Result<std::size_t> count) {
  if (!count) {
    close(count.error());
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
    closed = closed_;
  }
  if (closed) return finish();
  read_more();
}

Result<> Connection::consume() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return {};
    }
    const auto more = consume_frame();
    if (!more) return forward_error(more);
    if (!*more) return {};
  }
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
  if (closed_ || close_when_written_) return tl::unexpected<Error>(why_);
  if (waiting_.size() + writing_.size() > limits::kConnectionQueueBytes) {
    return fail(ErrorCode::resource_exhausted, "{} bytes wait to be written to node {}; at most {} may",
                waiting_.size() + writing_.size(), peer_, limits::kConnectionQueueBytes);
  }
  if (auto added = append_frame(waiting_, frame_class, {sent_ + 1, received_}, messages); !added) return added;
  ++sent_;
  write_next_locked();
  return {};
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
  if (closed_) return;
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
    if (std::exchange(closed_, true)) return;
    if (!close_when_written_) why_ = std::move(why);
  }
  stream_->close();
}

void Connection::close_when_written(Error why) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_ || close_when_written_) return;
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
