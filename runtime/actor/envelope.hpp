/// Envelope: one message under way inside a process: who, what kind, and the Cap'n Proto message itself.
/// Envelopes come from a pool of the thread and hold the first segment inline: a small message costs no allocation.
#pragma once

#include <capnp/message.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/actor/actor_ref.hpp"
#include "runtime/actor/down.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/unique_function.hpp"

namespace tandem::runtime {

class Cell;
class EnvelopePool;
class Life;

/// A Cap'n Proto message whose first segment is memory given to it.
class InlineBuilder final : public capnp::MessageBuilder {
 public:
  /// `first` must be zeroed and outlive the builder, which leaves it zeroed again.
  explicit InlineBuilder(kj::ArrayPtr<capnp::word> first) : first_(first) {}
  ~InlineBuilder() noexcept(false) override;
  kj::ArrayPtr<capnp::word> allocateSegment(kj::uint minimum_words) override;
  [[nodiscard]] std::size_t bytes();

 private:
  kj::ArrayPtr<capnp::word> first_;
  bool first_taken_ = false;
  std::size_t next_words_ = 256;
  std::vector<std::unique_ptr<void, void (*)(void*)>> more_;
};

enum class EnvelopeKind : std::uint8_t {
  message,  ///< `ask_id` other than 0: the sender waits for an answer
  reply,    ///< `content` answers the ask `ask_id`
  error,    ///< so does `control->error`
  monitor,  ///< the sender wants to be told of the receiver's end
  demonitor,
  down,       ///< `control->down`
  link_lost,  ///< the connection `link` has ended
  start,      ///< `control->life` moves into the cell
  stop,
  kill,  ///< for the cause in `control->down`
  call,  ///< runs `control->call` in a turn of the receiver
};

/// The parts that few envelopes need.
struct Control {
  Control();
  ~Control();
  Error error{ErrorCode::internal, ""};
  Down down;
  std::unique_ptr<Life> life;
  UniqueFunction<void(Cell&)> call;
};

struct Envelope {
  static constexpr std::size_t kInlineWords = 32;

  Envelope* next = nullptr;
  EnvelopePool* pool = nullptr;
  ActorRef target;
  ActorRef sender;
  std::uint64_t ask_id = 0;
  std::uint64_t type_id = 0;
  const char* (*type_name)() = nullptr;  ///< null when the message came from another node
  std::uint64_t link = 0;                ///< connection it came over; 0: from this process
  std::uint64_t bytes = 0;               ///< as accounted by the mailbox
  EnvelopeKind kind = EnvelopeKind::message;
  bool reserved = false;  ///< which allowance of the mailbox it uses
  bool has_content = false;
  std::unique_ptr<Control> control;
  alignas(InlineBuilder) std::byte content_storage[sizeof(InlineBuilder)];
  capnp::word first_segment[kInlineWords];

  Envelope();
  ~Envelope();
  Envelope(const Envelope&) = delete;
  Envelope& operator=(const Envelope&) = delete;

  /// The message; begun at the first call.
  [[nodiscard]] InlineBuilder& content();
  [[nodiscard]] Control& controls();
  /// Back to the state of a fresh envelope.
  void clear() noexcept;
};

struct ReturnEnvelope {
  void operator()(Envelope* envelope) const noexcept;
};
using EnvelopePtr = std::unique_ptr<Envelope, ReturnEnvelope>;

/// From the pool of the calling thread.
[[nodiscard]] EnvelopePtr make_envelope(EnvelopeKind kind);

}  // namespace tandem::runtime
