/// Transport: how bytes get from one node to another. Unix sockets, TCP and memory stand behind it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "runtime/base/clock.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/unique_function.hpp"

namespace tandem::runtime {

/// One connection: a reliable, ordered stream of bytes.
/// At most one read and one write are under way at a time. Callbacks of a stream never run concurrently, and never
/// inside the call that was given them. Any thread may call.
class Stream {
 public:
  using Done = UniqueFunction<void(Result<std::size_t>)>;

  /// Closes. Callbacks not yet run may still run, with an error.
  virtual ~Stream() = default;
  /// Reads at least one byte. `into` must live until `done`. The end of the stream is the error `unavailable`.
  virtual void read(std::span<std::byte> into, Done done) = 0;
  /// Writes all of `bytes`, which must live until `done`.
  virtual void write(std::span<const std::byte> bytes, Done done) = 0;
  /// Operations under way end with an error. Twice is once.
  virtual void close() = 0;
};

/// Stops accepting when destroyed.
class Listener {
 public:
  virtual ~Listener() = default;
  /// Where it really listens: as asked for, with the port that was found in place of port 0.
  [[nodiscard]] virtual const std::string& address() const noexcept = 0;
};

/// Thread-safe. Owned by the runtime (or the simulation), it outlives its streams.
class Transport {
 public:
  using OnStream = std::function<void(Result<std::shared_ptr<Stream>>)>;

  virtual ~Transport() = default;
  /// `on_stream` is called for each node that connects.
  [[nodiscard]] virtual Result<std::unique_ptr<Listener>> listen(const std::string& address, OnStream on_stream) = 0;
  virtual void connect(const std::string& address, OnStream on_connected) = 0;
  /// Runs `then` after `delay`, never inside this call.
  virtual void after(Duration delay, UniqueFunction<void()> then) = 0;
};

}  // namespace tandem::runtime
