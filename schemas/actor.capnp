# What the actor runtime itself puts on the wire.
@0xf0ba39d56d0afbbd;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tandem::schemas");

# Where an actor lives. A stale incarnation of a node is fenced.
struct ActorAddress {
  node @0 :UInt64;
  incarnation @1 :UInt64;
  local @2 :UInt64;
}
