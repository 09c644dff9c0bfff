# Between a worker and the warm template its trial hosts are forked from. What the hosts do is opaque to both ends here.
@0xd2a1d8f3c5b7e649;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("tandem::schemas");

# Worker → template.
struct TemplateRequest {
  union {
    prepare @0 :Data;
    fork @1 :ForkOrder;
  }
}

struct ForkOrder {
  ticket @0 :UInt64;  # comes back in the answer
  payload @1 :Data;   # for the child
}

# Template → worker.
struct TemplateNotice {
  union {
    ready @0 :Void;
    prepared @1 :Preparation;
    forked @2 :ForkedChild;
    forkFailed @3 :ForkFailure;
    exited @4 :ChildExit;
  }
}

struct Preparation {
  error @0 :Text;         # empty: it went well
  threadCount @1 :UInt32; # of the template after it; more than one makes forking unsafe
}

struct ForkedChild {
  ticket @0 :UInt64;
  pid @1 :Int32;
  startTime @2 :UInt64;
}

struct ForkFailure {
  ticket @0 :UInt64;
  error @1 :Text;
}

struct ChildExit {
  pid @0 :Int32;
  startTime @1 :UInt64;
  code @2 :Int32;
  signal @3 :Int32;
  coreDumped @4 :Bool;
  outOfMemory @5 :Bool;  # the kernel counted an out-of-memory kill
  userSeconds @6 :Float64;
  systemSeconds @7 :Float64;
  peakResidentBytes @8 :Int64;
}
