#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "tests/runtime/actor/fixture.hpp"

namespace tandem::runtime {
namespace {

/// A socket path of this test alone, gone with it.
struct SocketPath {
  std::string directory;
  SocketPath() {
    char pattern[] = "/tmp/tandem-node-XXXXXX";
    REQUIRE(::mkdtemp(pattern) != nullptr);
    directory = pattern;
  }
  ~SocketPath() {
    ::unlink((directory + "/node").c_str());
    ::rmdir(directory.c_str());
  }
  [[nodiscard]] std::string address() const { return "unix:" + directory + "/node"; }
};

}  // namespace

TEST_CASE("two nodes over a Unix socket: names, asks, references inside messages, and the loss of a node") {
  const SocketPath path;
  Record record;
  Runtime worker(options(1));
  auto host = std::make_unique<Runtime>(options(2));
  SpawnOptions named;
  named.name = "answers";
  spawn_scripted(worker, answer_pings, named);
  worker.on_node_down([&](NodeId node, const Error&) { record.add("node down " + std::to_string(node.node)); });
  REQUIRE(worker.listen(path.address()));
  const auto met = host->connect_blocking(path.address());
  REQUIRE(met);
  CHECK(met->node == 1);

  const auto found = host->remote_blocking(1, "answers", kPatience);
  REQUIRE(found);
  const auto answer = host->ask_blocking<test::Pong>(*found, ping(6), kPatience);
  REQUIRE(answer);
  CHECK(answer->root().getNumber() == 7);
  const auto unknown = host->remote_blocking(1, "nobody", kPatience);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code() == ErrorCode::not_found);

  // The host introduces an actor of its own; the worker's watches and asks it by what it was told.
  const ActorRef watcher = worker.spawn<Scripted>(
      {}, Scripted::Script{[&](Scripted& self) {
                             self.on<test::Introduce>([&](test::Introduce::Reader who, Incoming&) {
                               const ActorRef there = from_address(who.getActor());
                               self.monitor(there);
                               self.ask<test::Pong>(there, ping(1), kPatience, [&, there](auto reply) {
                                 record.add(reply ? "answered" : "not answered");
                                 self.ask<test::Pong>(there, ping(-1), kPatience, [&](auto second) {
                                   record.add(std::string(to_string(second.error().code())));
                                 });
                               });
                             });
                           },
                           [&](Scripted&, const Down& down) { record.add(std::string(to_string(down.cause))); },
                           {}});
  const ActorRef trial = spawn_scripted(*host, [&](Scripted& self) {
    self.on<test::Ping>([&](test::Ping::Reader question, Incoming& in) {
      if (question.getNumber() > 0) return in.reply(pong(1));
      self.after(kPatience, [kept = std::make_shared<Responder>(in.defer())] {});
      record.add("deferred");
    });
  });
  auto introduce = make_message<test::Introduce>();
  to_address(trial, introduce->initActor());
  REQUIRE(host->send(watcher, std::move(introduce)));
  CHECK(record.wait_for(2) == std::vector<std::string>{"answered", "deferred"});

  worker.disconnect(2);
  const auto events = record.wait_for(5);
  REQUIRE(events.size() == 5);
  CHECK(std::count(events.begin(), events.end(), "unavailable") == 1);
  CHECK(std::count(events.begin(), events.end(), "node_lost") == 1);
  CHECK(std::count(events.begin(), events.end(), "node down 2") == 1);
  const auto refused = worker.send(trial, ping(1));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::unavailable);
  host.reset();
  REQUIRE(worker.shutdown(kPatience));
  CHECK(record.all().size() == 5);
}

TEST_CASE("two nodes over TCP, plain or TLS: the port that was found is told, and the other node's death is noticed") {
  std::string scheme;
  SUBCASE("plain") { scheme = "tcp"; }
  SUBCASE("TLS") { scheme = "tls"; }
  Record record;
  Runtime worker(options(1));
  auto host = std::make_unique<Runtime>(options(2));
  worker.on_node_down([&](NodeId node, const Error&) { record.add("node down " + std::to_string(node.node)); });
  SpawnOptions named;
  named.name = "answers";
  spawn_scripted(worker, answer_pings, named);
  const auto address = worker.listen(scheme + ":127.0.0.1:0");
  REQUIRE(address);
  CHECK(address->starts_with(scheme + ":127.0.0.1:"));
  CHECK_FALSE(address->ends_with(":0"));
  REQUIRE(host->connect_blocking(*address));
  const auto found = host->remote_blocking(1, "answers", kPatience);
  REQUIRE(found);
  const auto answer = host->ask_blocking<test::Pong>(*found, ping(6), kPatience);
  REQUIRE(answer);
  CHECK(answer->root().getNumber() == 7);
  host.reset();
  CHECK(record.wait_for(1) == std::vector<std::string>{"node down 2"});
}

TEST_CASE("a node without the token, or with a number that is taken, is refused") {
  const SocketPath path;
  Runtime worker(options(1));
  REQUIRE(worker.listen(path.address()));
  RuntimeOptions wrong = options(2);
  wrong.token = "another token";
  Runtime stranger(wrong);
  const auto refused = stranger.connect_blocking(path.address());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::permission_denied);

  RuntimeOptions none = options(2);
  none.token.clear();
  Runtime tokenless(none);
  CHECK_FALSE(tokenless.listen("unix:/tmp/never-made"));
  CHECK_FALSE(tokenless.connect_blocking(path.address()));

  Runtime twin(options(1));
  CHECK_FALSE(twin.connect_blocking(path.address()));
}

TEST_CASE("a stream for objects opens from either side of two nodes that are connected, and only between such") {
  const SocketPath path, other_path;
  Record record;
  Runtime worker(options(1)), host(options(2)), stranger(options(3));
  const auto note = [&](const char* where) {
    return [&record, where](NodeId peer, const std::shared_ptr<Stream>& stream) {
      record.add(fmt::format("{} takes from {}", where, peer.node));
      stream->close();
    };
  };
  const auto open = [&](Runtime& from, std::uint64_t to) {
    from.open_stream(to, Purpose::objects, [&record](Result<std::shared_ptr<Stream>> stream) {
      if (!stream) record.add(std::string(to_string(stream.error().code())));
    });
  };
  worker.accept_streams(Purpose::objects, note("worker"));
  host.accept_streams(Purpose::objects, note("host"));
  REQUIRE(worker.listen(path.address()));
  REQUIRE(host.listen(other_path.address()));
  REQUIRE(host.connect_blocking(path.address()));
  open(host, 1);
  CHECK(record.wait_for(1).back() == "worker takes from 2");
  open(worker, 2);
  CHECK(record.wait_for(2).back() == "host takes from 1");
  open(stranger, 1);
  CHECK(record.wait_for(3).back() == "unavailable");
  // A node that listens nowhere, and takes no such streams, is told apart.
  REQUIRE(stranger.connect_blocking(path.address()));
  open(worker, 3);
  CHECK(record.wait_for(4).back() == "unavailable");
  Runtime deaf(options(4));
  const SocketPath deaf_path;
  REQUIRE(deaf.listen(deaf_path.address()));
  REQUIRE(worker.connect_blocking(deaf_path.address()));
  open(worker, 4);
  CHECK(record.wait_for(5).back() == "failed_precondition");
}

TEST_CASE("addresses that cannot be served are errors that name them") {
  Runtime runtime(options());
  for (const char* address : {"unix:", "tcp:here:1", "nonsense", "unix:/no/such/directory/socket"}) {
    CAPTURE(address);
    CHECK_FALSE(runtime.listen(address));
    CHECK_FALSE(runtime.connect_blocking(address));
  }
  CHECK_FALSE(runtime.listen("unix:/" + std::string(200, 'x')));
}

TEST_CASE("a socket file left behind by a dead process is replaced, a live one is not") {
  const SocketPath path;
  Runtime first(options(1)), second(options(2));
  REQUIRE(first.listen(path.address()));
  const auto taken = second.listen(path.address());
  REQUIRE_FALSE(taken);
  CHECK(taken.error().code() == ErrorCode::already_exists);
}

TEST_CASE("a message too large for the wire is refused at its sender, and an answer too large is told to the asker") {
  const SocketPath path;
  Runtime worker(options(1)), host(options(2));
  SpawnOptions named;
  named.name = "large";
  const std::string large(limits::kFrameBytes, 'x');
  spawn_scripted(
      worker, [&](Scripted& self) { self.on<test::Ping>([&](auto, Incoming& in) { in.reply(ping(1, large)); }); },
      named);
  REQUIRE(worker.listen(path.address()));
  REQUIRE(host.connect_blocking(path.address()));
  const auto there = host.remote_blocking(1, "large", kPatience);
  REQUIRE(there);
  const auto sent = host.send(*there, ping(1, large));
  REQUIRE_FALSE(sent);
  CHECK(sent.error().code() == ErrorCode::resource_exhausted);
  CHECK(sent.error().message().find("Ping") != std::string::npos);
  const auto answer = host.ask_blocking<test::Pong>(*there, ping(1), kPatience);
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code() == ErrorCode::resource_exhausted);
}

TEST_CASE("a message of megabytes crosses whole") {
  const SocketPath path;
  Runtime worker(options(1)), host(options(2));
  SpawnOptions named;
  named.name = "length";
  spawn_scripted(
      worker,
      [](Scripted& self) {
        self.on<test::Ping>([](test::Ping::Reader in_text, Incoming& in) {
          in.reply(pong(static_cast<std::int64_t>(in_text.getText().size())));
        });
      },
      named);
  REQUIRE(worker.listen(path.address()));
  REQUIRE(host.connect_blocking(path.address()));
  const auto there = host.remote_blocking(1, "length", kPatience);
  REQUIRE(there);
  for (const std::size_t size : {std::size_t{10}, std::size_t{100'000}, std::size_t{9'000'000}}) {
    const auto answer = host.ask_blocking<test::Pong>(*there, ping(1, std::string(size, 'y')), kPatience);
    REQUIRE(answer);
    CHECK(answer->root().getNumber() == static_cast<std::int64_t>(size));
  }
}

}  // namespace tandem::runtime
