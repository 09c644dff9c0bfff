# What two nodes tell each other inside frames. See WIRE.md.
@0xc7e9d4d15a1f3b86;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tandem::schemas");

# What a side says of itself once both have shown the token. The side that connected speaks first.
struct Introduction {
  union {
    accepted :group {
      name @0 :Text;     # of the node, for logs
      address @1 :Text;  # where it takes connections; empty: nowhere
    }
    refused @2 :RemoteError;  # by the side that was connected to; it closes then
  }
}

# First message of every frame between nodes. After `deliver` and `reply` the frame holds a second message: the payload.
struct RemoteEnvelope {
  target @0 :UInt64;       # local part of the receiving actor
  sender @1 :UInt64;       # local part of the sending actor; 0: none
  correlation @2 :UInt64;  # number of the ask; 0: not asked
  type @3 :UInt64;         # schema id of the payload
  union {
    deliver @4 :Void;
    reply @5 :Void;
    error @6 :RemoteError;
    monitor @7 :Void;
    demonitor @8 :Void;
    down @9 :RemoteDown;     # `sender` has died, `target` watched it
    lookup @10 :Text;        # answered by `found`
    found @11 :UInt64;       # local part of the actor so named; 0: none
    goodbye @12 :Void;       # the node shuts down in good order
  }
}

struct RemoteError {
  code @0 :UInt16;  # position in ErrorCode
  message @1 :Text;
}

struct RemoteDown {
  cause @0 :UInt16;  # position in DownCause
  detail @1 :Text;
}
