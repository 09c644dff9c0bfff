#include "runtime/actor/envelope.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "runtime/actor/life.hpp"
#include "runtime/base/limits.hpp"

namespace tandem::runtime {

// ---- the message

InlineBuilder::~InlineBuilder() noexcept(false) {
  if (!first_taken_) return;
  const auto segments = getSegmentsForOutput();
  // Only what was used is dirty; the next message finds zeros, as Cap'n Proto demands.
  if (segments.size() > 0) std::memset(first_.begin(), 0, segments[0].size() * sizeof(capnp::word));
}

kj::ArrayPtr<capnp::word> InlineBuilder::allocateSegment(kj::uint minimum_words) {
  if (!first_taken_ && minimum_words <= first_.size()) {
    first_taken_ = true;
    return first_;
  }
  const std::size_t words = std::max<std::size_t>(minimum_words, next_words_);
  next_words_ += words;
  void* memory = std::calloc(words, sizeof(capnp::word));
  if (memory == nullptr) throw std::bad_alloc();
  more_.emplace_back(memory, &std::free);
  return {static_cast<capnp::word*>(memory), words};
}

std::size_t InlineBuilder::bytes() {
  std::size_t words = 0;
  for (const auto& segment : getSegmentsForOutput()) words += segment.size();
  return words * sizeof(capnp::word);
}

Control::Control() = default;
Control::~Control() = default;

Envelope::Envelope() { std::memset(static_cast<void*>(first_segment), 0, sizeof(first_segment)); }
Envelope::~Envelope() { clear(); }

InlineBuilder& Envelope::content() {
  if (!has_content) {
    ::new (static_cast<void*>(content_storage)) InlineBuilder(kj::arrayPtr(first_segment, kInlineWords));
    has_content = true;
  }
  return *std::launder(reinterpret_cast<InlineBuilder*>(content_storage));
}

Control& Envelope::controls() {
  if (!control) control = std::make_unique<Control>();
  return *control;
}

void Envelope::clear() noexcept {
  if (has_content) {
    content().~InlineBuilder();
    has_content = false;
  }
  control.reset();
  next = nullptr;
  target = sender = {};
  ask_id = type_id = link = bytes = 0;
  type_name = nullptr;
  reserved = false;
}

// ---- the pool

/// The envelopes one thread has made. Others hand theirs back through a lock-free list; when the thread ends the last
/// envelope to come home takes the pool with it. (The scheme of mimalloc's thread free lists, Leijen et al. 2019.)
class EnvelopePool {
 public:
  [[nodiscard]] Envelope* take() {
    if (own_ == nullptr) collect();
    if (own_ == nullptr) {
      auto* envelope = new Envelope;
      envelope->pool = this;
      alive_.fetch_add(1, std::memory_order_relaxed);
      return envelope;
    }
    Envelope* envelope = own_;
    own_ = envelope->next;
    envelope->next = nullptr;
    --own_count_;
    return envelope;
  }

  /// By the owning thread.
  void put(Envelope* envelope) {
    if (own_count_ >= limits::kPooledEnvelopes) return drop(envelope);
    envelope->next = own_;
    own_ = envelope;
    ++own_count_;
  }

  /// By any other thread.
  void send_home(Envelope* envelope) {
    Envelope* head = home_.load(std::memory_order_relaxed);
    do {
      if (head == closed()) return drop(envelope);
      envelope->next = head;
    } while (!home_.compare_exchange_weak(head, envelope, std::memory_order_release, std::memory_order_relaxed));
  }

  /// The owning thread ends.
  void close() {
    Envelope* list = home_.exchange(closed(), std::memory_order_acquire);
    while (list != nullptr) drop(std::exchange(list, list->next));
    while (own_ != nullptr) drop(std::exchange(own_, own_->next));
    release();
  }

 private:
  static Envelope* closed() noexcept { return reinterpret_cast<Envelope*>(std::uintptr_t{1}); }

  void collect() {
    Envelope* list = home_.exchange(nullptr, std::memory_order_acquire);
    while (list != nullptr) put(std::exchange(list, list->next));
  }
  void drop(Envelope* envelope) {
    delete envelope;
    release();
  }
  void release() {
    if (alive_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  Envelope* own_ = nullptr;
  std::size_t own_count_ = 0;
  std::atomic<Envelope*> home_{nullptr};
  std::atomic<std::size_t> alive_{1};  // envelopes, and the thread itself
};

namespace {

struct PoolOfThread {
  EnvelopePool* pool = new EnvelopePool;
  ~PoolOfThread() { std::exchange(pool, nullptr)->close(); }
};
thread_local PoolOfThread pool_of_thread;

}  // namespace

EnvelopePtr make_envelope(EnvelopeKind kind) {
  EnvelopePool* pool = pool_of_thread.pool;
  Envelope* envelope = pool != nullptr ? pool->take() : new Envelope;  // null: the thread is ending
  envelope->kind = kind;
  return EnvelopePtr(envelope);
}

void ReturnEnvelope::operator()(Envelope* envelope) const noexcept {
  envelope->clear();
  if (envelope->pool == nullptr) {
    delete envelope;
  } else if (envelope->pool == pool_of_thread.pool) {
    envelope->pool->put(envelope);
  } else {
    envelope->pool->send_home(envelope);
  }
}

}  // namespace tandem::runtime
