# What the actors of the runtime's tests tell each other.
@0xa9f5cf1b7d4e2c83;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tandem::test");

using Actor = import "/schemas/actor.capnp";

struct Ping {
  number @0 :Int64;
  text @1 :Text;
  data @2 :Data;
}

struct Pong {
  number @0 :Int64;
  text @1 :Text;
}

struct Introduce {
  actor @0 :Actor.ActorAddress;
}

struct Unknown {
  number @0 :Int64;
}
