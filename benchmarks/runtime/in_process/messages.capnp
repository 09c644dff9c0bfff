# What the actors of the in-process suite tell each other.
@0xd5b1f0a86c2e4937;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tandem::bench");

using Actor = import "/schemas/actor.capnp";

struct Number {
  value @0 :UInt64;
}

struct Answer {
  value @0 :UInt64;
}

struct Meeting {
  color @0 :Int32;
  other @1 :Actor.ActorAddress;
}

struct Change {
  color @0 :Int32;
}

struct Exit {
}
