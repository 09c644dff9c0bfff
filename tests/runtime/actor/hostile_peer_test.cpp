#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "runtime/wire/frame.hpp"
#include "runtime/wire/hello.hpp"
#include "schemas/wire.capnp.h"
#include "tests/runtime/actor/fixture.hpp"

namespace tandem::runtime {
namespace {

/// Speaks the wire by hand, byte by byte, as nobody should.
class RawPeer {
 public:
  explicit RawPeer(const std::string& path) : descriptor_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    REQUIRE(::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  }
  ~RawPeer() { ::close(descriptor_); }

  void write(std::span<const std::byte> bytes) { (void)::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }
  template <std::size_t N>
  bool read(std::array<std::byte, N>& into) {
    return ::recv(descriptor_, into.data(), N, MSG_WAITALL) == static_cast<ssize_t>(N);
  }
  /// Whether the other side has closed; waits until it has, or has sent something.
  bool closed() {
    std::byte byte;
    return ::recv(descriptor_, &byte, 1, 0) <= 0;
  }
  bool greet(std::uint64_t node, const std::string& token) {
    Hello hello;
    hello.node = node;
    hello.incarnation = 1;
    const HelloBytes mine = encode_hello(hello);
    write(mine);
    HelloBytes theirs;
    if (!read(theirs)) return false;
    write(make_proof(token, ProofRole::initiator, mine, theirs));
    Proof proof;
    if (!read(proof) || !equal_proofs(proof, make_proof(token, ProofRole::acceptor, mine, theirs))) return false;
    capnp::MallocMessageBuilder message;
    message.initRoot<schemas::Introduction>().initAccepted().setName("a raw peer");
    capnp::MessageBuilder* const messages[] = {&message};
    std::vector<std::byte> introduction;
    REQUIRE(append_frame(introduction, FrameClass::control, {0, 0}, messages));
    write(introduction);
    return read_frame();
  }
  /// Whatever it says.
  bool read_frame() {
    std::array<std::byte, kFrameHeaderBytes> header_bytes;
    if (!read(header_bytes)) return false;
    const auto header = parse_frame_header(header_bytes);
    std::vector<std::byte> body(header->body_bytes);
    return ::recv(descriptor_, body.data(), body.size(), MSG_WAITALL) == static_cast<ssize_t>(body.size());
  }

 private:
  int descriptor_;
};

struct Listening {
  std::string directory;
  Record record;
  std::unique_ptr<Runtime> runtime;
  ActorRef reader;

  Listening() {
    char pattern[] = "/tmp/tandem-peer-XXXXXX";
    REQUIRE(::mkdtemp(pattern) != nullptr);
    directory = pattern;
    runtime = std::make_unique<Runtime>(options(1));
    reader = spawn_scripted(*runtime, [this](Scripted& self) {
      self.on<test::Ping>([this](test::Ping::Reader message, Incoming& in) {
        record.add(std::string(message.getText().cStr()));
        in.reply(pong(message.getNumber()));
      });
    });
    REQUIRE(runtime->listen("unix:" + path()));
  }
  ~Listening() {
    runtime.reset();
    ::rmdir(directory.c_str());
  }
  [[nodiscard]] std::string path() const { return directory + "/node"; }
};

/// A frame that delivers `payload` as if it were a Ping.
std::vector<std::byte> deliver(ActorRef target, capnp::MessageBuilder& payload, std::uint64_t sequence) {
  capnp::MallocMessageBuilder head;
  auto envelope = head.initRoot<schemas::RemoteEnvelope>();
  envelope.setTarget(target.local);
  envelope.setType(capnp::typeId<test::Ping>());
  envelope.setDeliver();
  capnp::MessageBuilder* const messages[] = {&head, &payload};
  std::vector<std::byte> bytes;
  REQUIRE(append_frame(bytes, FrameClass::message, {sequence, 0}, messages));
  return bytes;
}

/// The actor still works, for its own process and for others.
void check_unharmed(Listening& node) {
  const auto answer = node.runtime->ask_blocking<test::Pong>(node.reader, ping(5, "own"), kPatience);
  REQUIRE(answer);
  CHECK(answer->root().getNumber() == 5);
}

}  // namespace

TEST_CASE("a message that only its reader can find damaged closes its connection and harms no actor") {
  Listening node;
  RawPeer peer(node.path());
  REQUIRE(peer.greet(2, "a token"));
  capnp::MallocMessageBuilder good, bad;
  good.initRoot<test::Ping>().setText("well formed");
  peer.write(deliver(node.reader, good, 1));
  CHECK(node.record.wait_for(1) == std::vector<std::string>{"well formed"});
  // Where a Ping has its text, this has a struct.
  bad.initRoot<test::Introduce>().initActor().setLocal(1);
  peer.write(deliver(node.reader, bad, 2));
  CHECK(peer.closed());
  check_unharmed(node);
}

TEST_CASE("bytes that break a rule of the wire close their connection and harm nobody else") {
  struct Case {
    const char* name;
    std::function<void(std::vector<std::byte>&)> damage;
  };
  const Case cases[] = {
      {"a flipped bit", [](auto& bytes) { bytes[50] ^= std::byte{4}; }},
      {"a length of 4 GiB", [](auto& bytes) { std::memset(bytes.data() + 8, 0xf8, 4); }},
      {"a number that was not next", [](auto& bytes) { bytes[16] = std::byte{9}; }},
      {"the greeting again",
       [](auto& bytes) {
         const auto hello = encode_hello(Hello{});
         bytes.assign(hello.begin(), hello.end());
       }},
  };
  Listening node;
  std::uint64_t number = 2;
  for (const auto& each : cases) {
    CAPTURE(each.name);
    RawPeer peer(node.path());
    REQUIRE(peer.greet(number++, "a token"));
    capnp::MallocMessageBuilder payload;
    payload.initRoot<test::Ping>().setText("not to be heard");
    auto bytes = deliver(node.reader, payload, 1);
    each.damage(bytes);
    peer.write(bytes);
    CHECK(peer.closed());
  }
  check_unharmed(node);
  CHECK(node.record.all() == std::vector<std::string>{"own"});
}

TEST_CASE("without the token nothing is read, and a replayed proof is worth nothing") {
  Listening node;
  RawPeer stranger(node.path());
  CHECK_FALSE(stranger.greet(2, "a guess"));

  // What an honest peer said once does not open the door again: the other side's nonce has changed.
  Hello hello;
  hello.node = 3;
  const HelloBytes mine = encode_hello(hello);
  HelloBytes theirs;
  Proof proof;
  {
    RawPeer honest(node.path());
    honest.write(mine);
    REQUIRE(honest.read(theirs));
    proof = make_proof("a token", ProofRole::initiator, mine, theirs);
    honest.write(proof);
    Proof answer;
    REQUIRE(honest.read(answer));
  }
  RawPeer replay(node.path());
  replay.write(mine);
  REQUIRE(replay.read(theirs));
  replay.write(proof);
  CHECK(replay.closed());
  check_unharmed(node);
}

}  // namespace tandem::runtime
