/// Greeting: the beginning of a stream, in either role. Both sides show that they hold the token and then introduce
/// themselves; nothing is parsed by Cap'n Proto before. It ends with a stream whose next byte belongs to its purpose.
#pragma once

#include <array>
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

/// What a node says of itself once both sides have shown the token.
struct Introduction {
  std::string name;     ///< for logs
  std::string address;  ///< where it takes connections; empty: nowhere
};

/// A stream whose other end is known to hold the token.
struct GreetedStream {
  std::shared_ptr<Stream> stream;
  Hello peer;
  Introduction introduction;  ///< the peer's
};

struct GreetingOptions {
  Hello self;  ///< with a fresh nonce; the acceptor's purpose is that of the initiator
  std::string token;
  bool initiator = false;
};

class Greeting : public std::enable_shared_from_this<Greeting> {
 public:
  /// All run one at a time.
  struct Events {
    /// The peer has shown the token: says who this side is. `theirs` is null on the side that connected, which speaks
    /// first. An error refuses the peer, and is told to it by the side that was connected to.
    std::function<Result<Introduction>(const Hello& peer, const Introduction* theirs)> introduce;
    /// Exactly once, and last.
    std::function<void(Result<GreetedStream>)> done;
  };

  /// `transport` outlives the callbacks.
  Greeting(std::shared_ptr<Stream> stream, Transport& transport, GreetingOptions options, Events events);
  void start();
  /// Ends it early; `done` is told.
  void cancel() { stream_->close(); }
  /// Closes the stream; no event is told any more once this returns. Not from within an event.
  void abandon();

 private:
  using Step = void (Greeting::*)();

  void read(std::span<std::byte> into, Step then);
  void write(std::span<const std::byte> bytes, Step then);

  // In the order of the stream; each is followed by one of those below it.
  void read_hello();
  void hello_read();
  void read_proof();
  void proof_read();
  void introduce();
  void read_introduction();
  void introduction_header_read();
  void introduction_read();
  void complete();

  [[nodiscard]] Result<> take_introduction();
  void refuse(const Error& why);
  void fail_with(Error why);
  void finish(Result<GreetedStream> result);

  const std::shared_ptr<Stream> stream_;
  Transport& transport_;
  const GreetingOptions options_;
  HelloBytes own_hello_;

  // Touched by the stream's callbacks only.
  HelloBytes peer_hello_{};
  Proof proof_{};
  Hello peer_;
  bool proven_ = false;
  std::array<std::byte, kFrameHeaderBytes> header_{};
  std::vector<std::uint64_t> body_;
  std::vector<std::byte> writing_;
  Introduction theirs_;

  std::mutex mutex_;  // held while an event runs, so that `abandon` can wait for it
  Events events_;
  bool late_ = false;
};

}  // namespace tandem::runtime
