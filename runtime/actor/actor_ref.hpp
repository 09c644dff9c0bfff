/// ActorRef: where an actor lives. A value, free to copy, to keep and to send; it keeps nothing alive.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

#include "schemas/actor.capnp.h"

namespace tandem::runtime {

struct ActorRef {
  std::uint64_t node = 0;
  std::uint64_t incarnation = 0;  ///< of the node; a message to an earlier one is refused
  std::uint64_t local = 0;        ///< 0: nobody

  [[nodiscard]] explicit operator bool() const noexcept { return local != 0; }
  auto operator<=>(const ActorRef&) const = default;
};

/// "node.incarnation/local", for logs and errors.
[[nodiscard]] std::string to_string(const ActorRef& ref);

void to_address(const ActorRef& ref, schemas::ActorAddress::Builder address);
[[nodiscard]] ActorRef from_address(schemas::ActorAddress::Reader address);

}  // namespace tandem::runtime

template <>
struct std::hash<tandem::runtime::ActorRef> {
  std::size_t operator()(const tandem::runtime::ActorRef& ref) const noexcept {
    std::uint64_t mixed = ref.local * 0x9e3779b97f4a7c15ULL;
    mixed ^= (ref.node + 0x632be59bd9b4e019ULL + (mixed << 6) + (mixed >> 2)) * 0xff51afd7ed558ccdULL;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32) ^ ref.incarnation);
  }
};
