/// Connection: frames over a Stream, after the greeting. One write is under way at a time; small frames gather into it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "runtime/wire/frame.hpp"
#include "runtime/wire/hello.hpp"
#include "runtime/wire/transport.hpp"

namespace tandem::runtime {

struct ConnectionOptions {
  Hello self;  ///< with a fresh nonce
  std::string token;
  bool initiator = false;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  /// All run one at a time, in the order of the stream.
  struct Events {
    /// The peer has shown the token. An error refuses it, and closes.
    std::function<Result<>(const Hello& peer)> on_open;
    /// Valid during the call. An error, or a kj::Exception, closes the connection.
    std::function<Result<>(const FrameHeader&, const FrameBody&)> on_frame;
    /// Exactly once, and last.
    std::function<void(const Error& why)> on_closed;
  };

  /// `transport` outlives the connection's callbacks; `start` begins the greeting.
  Connection(std::shared_ptr<Stream> stream, Transport& transport, ConnectionOptions options, Events events);
  ~Connection();
  void start();

  /// Copies the messages into the next write. Errors: resource_exhausted, too large, or too much is waiting;
  /// unavailable, closed or not open yet. Thread-safe.
  Result<> send(FrameClass frame_class, std::span<capnp::MessageBuilder* const> messages);
  /// Closes at once, telling on_closed `why`. Thread-safe; the first reason counts.
  void close(Error why);
  /// Closes once all that was sent has been written.
  void close_when_written(Error why);
  /// Closes; no event is told any more once this returns. Not from within an event.
  void abandon();

 private:
  enum class State { greeting, proving, open, closed };

  void read_more();
  void on_read(Result<std::size_t> count);
  Result<> consume();
  Result<bool> consume_hello();
  Result<bool> consume_proof();
  Result<bool> consume_frame();
  void make_room(std::size_t bytes);
  void write_raw(std::span<const std::byte> bytes);
  void write_next_locked();
  void on_written(Result<std::size_t> count);
  void finish();

  [[nodiscard]] std::byte* buffer() noexcept { return reinterpret_cast<std::byte*>(words_.data()); }
  [[nodiscard]] std::size_t buffered() const noexcept { return end_ - begin_; }

  const std::shared_ptr<Stream> stream_;
  Transport& transport_;
  const ConnectionOptions options_;
  const HelloBytes own_hello_;

  // Reading; touched by the stream's callbacks only.
  std::vector<std::uint64_t> words_;
  std::size_t begin_ = 0, end_ = 0;  // bytes, `begin_` a multiple of 8
  HelloBytes peer_hello_bytes_{};
  Hello peer_;
  FrameBody body_;
  std::uint64_t received_ = 0;  // guarded by mutex_ too, for acknowledgements

  std::mutex events_mutex_;  // held while an event runs, so that `abandon` can wait for it
  Events events_;
  bool abandoned_ = false;
  bool finished_ = false;

  std::mutex mutex_;
  State state_ = State::greeting;
  std::vector<std::byte> waiting_, writing_;
  bool write_under_way_ = false;
  bool close_when_written_ = false;
  std::uint64_t sent_ = 0;
  Error why_{ErrorCode::unavailable, "closed"};
};

}  // namespace tandem::runtime
