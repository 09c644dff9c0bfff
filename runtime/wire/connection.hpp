/// Connection: frames over a stream, after its greeting. One write is under way at a time; small frames gather into it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/wire/frame.hpp"
#include "runtime/wire/transport.hpp"

namespace tandem::runtime {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  /// All run one at a time, in the order of the stream.
  struct Events {
    /// Valid during the call. An error, or a kj::Exception, closes the connection.
    std::function<Result<>(const FrameHeader&, const FrameBody&)> on_frame;
    /// Exactly once, and last.
    std::function<void(const Error& why)> on_closed;
  };

  /// `peer`: the node at the other end, for errors.
  Connection(std::shared_ptr<Stream> stream, std::uint64_t peer, Events events);
  ~Connection();
  /// Begins to read. What is sent before is written all the same.
  void start();

  /// Copies the messages into the next write. Errors: resource_exhausted, too large, or too much is waiting;
  /// unavailable, closed. Thread-safe.
  Result<> send(FrameClass frame_class, std::span<capnp::MessageBuilder* const> messages);
  /// Closes at once, telling on_closed `why`. Thread-safe; the first reason counts.
  void close(Error why);
  /// Closes once all that was sent has been written.
  void close_when_written(Error why);
  /// Closes; no event is told any more once this returns. Not from within an event.
  void abandon();

 private:
  void read_more();
  void on_read(Result<std::size_t> count);
  Result<> consume();
  Result<bool> consume_frame();
  void make_room(std::size_t bytes);
  void write_next_locked();
  void on_written(Result<std::size_t> count);
  void finish();

  [[nodiscard]] std::byte* buffer() noexcept { return reinterpret_cast<std::byte*>(words_.data()); }
  [[nodiscard]] std::size_t buffered() const noexcept { return end_ - begin_; }

  const std::shared_ptr<Stream> stream_;
  const std::uint64_t peer_;

  // Reading; touched by the stream's callbacks only.
  std::vector<std::uint64_t> words_;
  std::size_t begin_ = 0, end_ = 0;  // bytes, `begin_` a multiple of 8
  FrameBody body_;
  std::uint64_t received_ = 0;  // guarded by mutex_ too, for acknowledgements

  std::mutex events_mutex_;  // held while an event runs, so that `abandon` can wait for it
  Events events_;
  bool abandoned_ = false;
  bool finished_ = false;

  std::mutex mutex_;
  bool closed_ = false;
  std::vector<std::byte> waiting_, writing_;
  bool write_under_way_ = false;
  bool close_when_written_ = false;
  std::uint64_t sent_ = 0;
  Error why_{ErrorCode::unavailable, "closed"};
};

}  // namespace tandem::runtime
