#include "runtime/wire/memory_transport.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>

#include "runtime/wire/address.hpp"

namespace tandem::runtime {

/// One end of a connection. Bytes written arrive at the other end after the latency, in order.
class MemoryStream final : public Stream, public std::enable_shared_from_this<MemoryStream> {
 public:
  MemoryStream(MemoryNetwork& network, std::uint64_t node, std::uint64_t peer_node)
      : network_(network), node_(node), peer_node_(peer_node) {}

  static std::pair<std::shared_ptr<MemoryStream>, std::shared_ptr<MemoryStream>> pair(MemoryNetwork& network,
                                                                                      std::uint64_t a,
                                                                                      std::uint64_t b) {
    auto first = std::make_shared<MemoryStream>(network, a, b);
    auto second = std::make_shared<MemoryStream>(network, b, a);
    first->peer_ = second;
    second->peer_ = first;
    std::erase_if(network.streams_, [](const auto& stream) { return stream.expired(); });
    network.streams_.push_back(first);
    network.streams_.push_back(second);
    return {first, second};
  }

  ~MemoryStream() override {
    if (const auto peer = peer_.lock()) peer->hang_up();
  }

  void read(std::span<std::byte> into, Done done) override {
    into_ = into;
    reading_ = std::move(done);
    serve();
  }

  void write(std::span<const std::byte> bytes, Done done) override {
    const auto peer = peer_.lock();
    if (closed_ || !peer) {
      return run(Duration{}, [done = std::move(done)]() mutable {
        done(fail(ErrorCode::unavailable, "the connection was closed"));
      });
    }
    std::vector<std::byte> copy(bytes.begin(), bytes.end());
    const auto conditions = network_.weather_(node_, peer_node_);
    chunk_bytes_ = std::max<std::size_t>(conditions.chunk_bytes, 1);
    peer->arrive(conditions.latency, std::move(copy), chunk_bytes_);
    run(Duration{}, [done = std::move(done), size = bytes.size()]() mutable { done(size); });
  }

  void close() override {
    if (std::exchange(closed_, true)) return;
    if (const auto peer = peer_.lock()) peer->hang_up();
    serve();
  }

  /// Both ends see the connection end; what was under way is lost.
  void reset() {
    broken_ = true;
    arrived_.clear();
    serve();
  }

  /// Its node is gone: nobody waits any more. A reader may own the stream, and is let go here.
  void forget() { const Done dropped = std::exchange(reading_, {}); }

  [[nodiscard]] std::uint64_t node() const noexcept { return node_; }
  [[nodiscard]] std::uint64_t peer_node() const noexcept { return peer_node_; }
  [[nodiscard]] bool live() const noexcept { return !closed_ && !broken_; }

 private:
  void run(Duration delay, UniqueFunction<void()> task) { network_.execute_(node_, delay, std::move(task)); }

  void arrive(Duration latency, std::vector<std::byte> bytes, std::size_t chunk_bytes) {
    under_way_.push_back(std::move(bytes));
    chunk_bytes_ = chunk_bytes;
    // Tasks of equal or shorter delay may overtake each other; the bytes themselves are taken in order.
    run(latency, [self = shared_from_this()] {
      if (self->under_way_.empty()) return;
      auto& first = self->under_way_.front();
      if (!self->broken_) self->arrived_.insert(self->arrived_.end(), first.begin(), first.end());
      self->under_way_.pop_front();
      self->serve();
    });
  }

  /// The other end closed: what it had sent still arrives.
  void hang_up() {
    const auto conditions = network_.weather_(peer_node_, node_);
    run(conditions.latency, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) {
        self->ended_ = true;
        self->serve();
      }
    });
  }

  void serve() {
    if (!reading_ || serving_) return;
    const bool over = closed_ || broken_ || (ended_ && under_way_.empty());
    if (arrived_.empty() && !over) return;
    serving_ = true;
    run(Duration{}, [self = shared_from_this()] { self->complete_read(); });
  }

  void complete_read() {
    serving_ = false;
    if (!reading_) return;
    Done done = std::exchange(reading_, {});
    if (closed_ || broken_ || arrived_.empty()) {
      return done(
          fail(ErrorCode::unavailable, "{}", broken_ ? "the connection was reset" : "the peer closed the connection"));
    }
    const std::size_t count = std::min({into_.size(), arrived_.size(), chunk_bytes_});
    std::copy_n(arrived_.begin(), count, into_.begin());
    arrived_.erase(arrived_.begin(), arrived_.begin() + static_cast<std::ptrdiff_t>(count));
    done(count);
  }

  MemoryNetwork& network_;
  const std::uint64_t node_, peer_node_;
  std::weak_ptr<MemoryStream> peer_;
  std::deque<std::vector<std::byte>> under_way_;
  std::deque<std::byte> arrived_;
  std::size_t chunk_bytes_ = SIZE_MAX;
  std::span<std::byte> into_;
  Done reading_;
  bool serving_ = false, closed_ = false, broken_ = false, ended_ = false;
};

class MemoryListener final : public Listener {
 public:
  MemoryListener(MemoryNetwork& network, std::string name, std::shared_ptr<Transport::OnStream> mine)
      : network_(network), name_(std::move(name)), address_("memory:" + name_), mine_(std::move(mine)) {}
  const std::string& address() const noexcept override { return address_; }
  ~MemoryListener() override {
    const auto found = network_.listening_.find(name_);
    if (found != network_.listening_.end() && found->second.on_stream == mine_) network_.listening_.erase(found);
  }

 private:
  MemoryNetwork& network_;
  std::string name_, address_;
  std::shared_ptr<Transport::OnStream> mine_;
};

class MemoryTransport final : public Transport {
 public:
  MemoryTransport(MemoryNetwork& network, std::uint64_t node) : network_(network), node_(node) {}

  Result<std::unique_ptr<Listener>> listen(const std::string& text, OnStream on_stream) override {
    const auto address = parse_address(text, "memory");
    if (!address) return forward_error(address);
    if (network_.listening_.contains(address->rest)) {
      return fail(ErrorCode::already_exists, "cannot listen at {}: another node does", text);
    }
    auto shared = std::make_shared<OnStream>(std::move(on_stream));
    network_.listening_[address->rest] = {node_, shared};
    return std::unique_ptr<Listener>(std::make_unique<MemoryListener>(network_, address->rest, std::move(shared)));
  }

  void connect(const std::string& text, OnStream on_connected) override {
    auto address = parse_address(text, "memory");
    network_.execute_(
        node_, Duration{},
        [this, address = std::move(address), text, on_connected = std::move(on_connected)]() mutable {
          if (!address) return on_connected(forward_error(address));
          const auto found = network_.listening_.find(address->rest);
          if (found == network_.listening_.end()) {
            return on_connected(fail(ErrorCode::unavailable, "cannot connect to {}: nobody listens", text));
          }
          const std::uint64_t there = found->second.node;
          auto [mine, theirs] = MemoryStream::pair(network_, node_, there);
          const auto conditions = network_.weather_(node_, there);
          network_.execute_(there, conditions.latency,
                            [stream = theirs, on_stream = found->second.on_stream] { (*on_stream)(stream); });
          network_.execute_(node_, conditions.latency * 2,
                            [stream = mine, on_connected = std::move(on_connected)] { on_connected(stream); });
        });
  }

  void after(Duration delay, UniqueFunction<void()> then) override { network_.execute_(node_, delay, std::move(then)); }

 private:
  MemoryNetwork& network_;
  std::uint64_t node_;
};

MemoryNetwork::MemoryNetwork(Execute execute, Weather weather)
    : execute_(std::move(execute)), weather_(std::move(weather)) {}

MemoryNetwork::~MemoryNetwork() {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (const auto stream = streams_[i].lock()) stream->forget();
  }
}

std::unique_ptr<Transport> MemoryNetwork::transport(std::uint64_t node) {
  return std::make_unique<MemoryTransport>(*this, node);
}

std::size_t MemoryNetwork::cut(std::uint64_t a, std::uint64_t b) {
  std::size_t ends = 0;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const auto stream = streams_[i].lock();
    if (!stream || !stream->live()) continue;
    const bool between =
        (stream->node() == a && stream->peer_node() == b) || (stream->node() == b && stream->peer_node() == a);
    if (!between) continue;
    stream->reset();
    ++ends;
  }
  return (ends + 1) / 2;
}

void MemoryNetwork::remove(std::uint64_t node) {
  std::erase_if(listening_, [node](const auto& entry) { return entry.second.node == node; });
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const auto stream = streams_[i].lock();
    if (stream && (stream->node() == node || stream->peer_node() == node)) stream->reset();
    if (stream && stream->node() == node) stream->forget();
  }
}

}  // namespace tandem::runtime
