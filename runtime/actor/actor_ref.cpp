#include "runtime/actor/actor_ref.hpp"

#include <fmt/format.h>

namespace tandem::runtime {

std::string to_string(const ActorRef& ref) {
  if (!ref) return "nobody";
  return fmt::format("{}.{}/{:x}", ref.node, ref.incarnation, ref.local);
}

void to_address(const ActorRef& ref, schemas::ActorAddress::Builder address) {
  address.setNode(ref.node);
  address.setIncarnation(ref.incarnation);
  address.setLocal(ref.local);
}

ActorRef from_address(schemas::ActorAddress::Reader address) {
  return {address.getNode(), address.getIncarnation(), address.getLocal()};
}

}  // namespace tandem::runtime
