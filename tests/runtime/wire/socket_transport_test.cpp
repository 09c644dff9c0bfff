/// The transports over sockets, each by the same tests.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <future>
#include <map>
#include <thread>

#include "runtime/base/file_system.hpp"
#include "runtime/wire/asio_ssl.hpp"
#include "runtime/wire/scheme_transport.hpp"
#include "runtime/wire/tcp_transport.hpp"
#include "runtime/wire/tls_transport.hpp"
#include "runtime/wire/unix_transport.hpp"

namespace tandem::runtime {
namespace {

/// Both transports on two threads, as a runtime has them.
struct Sockets {
  asio::io_context context;
  std::unique_ptr<Transport> transport;
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  std::vector<std::thread> threads;
  std::string directory = PosixFileSystem().temporary_name((std::filesystem::temp_directory_path() / "wire").string());

  Sockets() {
    std::filesystem::create_directories(directory);
    std::map<std::string, std::unique_ptr<Transport>> transports;
    transports["tcp"] = make_tcp_transport(context);
    transports["tls"] = make_tls_transport(context, "the token");
    transports["unix"] = make_unix_transport(context);
    transport = make_scheme_transport(std::move(transports));
    for (int thread = 0; thread < 2; ++thread) threads.emplace_back([this] { context.run(); });
  }
  ~Sockets() {
    context.stop();
    for (auto& thread : threads) thread.join();
    std::filesystem::remove_all(directory);
  }
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;

  Result<std::shared_ptr<Stream>> connect(const std::string& address) { return connect(*transport, address); }
  static Result<std::shared_ptr<Stream>> connect(Transport& by, const std::string& address) {
    auto told = std::make_shared<std::promise<Result<std::shared_ptr<Stream>>>>();
    by.connect(address, [told](auto stream) { told->set_value(std::move(stream)); });
    return told->get_future().get();
  }
};

/// Sends back what comes, until its stream ends.
struct Echo : std::enable_shared_from_this<Echo> {
  explicit Echo(std::shared_ptr<Stream> connected) : stream(std::move(connected)) {}
  void go() {
    stream->read(bytes, [self = shared_from_this()](Result<std::size_t> count) {
      if (!count) return;
      self->stream->write(std::span(self->bytes).first(*count), [self](Result<std::size_t> written) {
        if (written) self->go();
      });
    });
  }
  std::shared_ptr<Stream> stream;
  std::array<std::byte, 4096> bytes{};
};

Result<std::size_t> read_some(Stream& stream, std::span<std::byte> into) {
  // Shared: the promise must outlive its own set_value, not only the waiting.
  auto told = std::make_shared<std::promise<Result<std::size_t>>>();
  stream.read(into, [told](Result<std::size_t> count) { told->set_value(std::move(count)); });
  return told->get_future().get();
}

TEST_CASE_FIXTURE(Sockets, "bytes come back in order through every kind of socket, and an end is told") {
  for (const std::string& asked : {"unix:" + directory + "/s", std::string("tcp:127.0.0.1:0"),
                                   std::string("tcp:localhost:0"), std::string("tls:127.0.0.1:0")}) {
    INFO(asked);
    auto listener = transport->listen(asked, [](Result<std::shared_ptr<Stream>> stream) {
      REQUIRE_MESSAGE(stream, (stream ? std::string() : stream.error().message()));
      std::make_shared<Echo>(*stream)->go();
    });
    REQUIRE(listener);
    const auto stream = connect((*listener)->address());
    REQUIRE_MESSAGE(stream, (stream ? std::string() : stream.error().message()));
    std::vector<std::byte> sent(1'000'000), received(sent.size());
    for (std::size_t index = 0; index < sent.size(); ++index) sent[index] = static_cast<std::byte>(index * 7 % 251);
    auto written = std::make_shared<std::promise<Result<std::size_t>>>();
    (*stream)->write(sent, [written](Result<std::size_t> count) { written->set_value(std::move(count)); });
    for (std::size_t got = 0; got < received.size();) {
      const auto count = read_some(**stream, std::span(received).subspan(got));
      REQUIRE(count);
      got += *count;
    }
    CHECK(*written->get_future().get() == sent.size());
    CHECK(received == sent);
    (*stream)->close();
    (*stream)->close();
    CHECK_FALSE(read_some(**stream, received));
    // Gone with its listener: nobody answers there.
    const std::string address = (*listener)->address();
    listener->reset();
    // The closing runs on the context's threads; until then a connection may still be taken.
    while (connect(address)) std::this_thread::yield();
  }
}

TEST_CASE_FIXTURE(Sockets, "an address in use, a host that is none and a port nobody has are errors that name them") {
  const auto ignore = [](Result<std::shared_ptr<Stream>>) {};
  auto listener = transport->listen("tcp:127.0.0.1:0", ignore);
  REQUIRE(listener);
  const std::string address = (*listener)->address();
  const auto taken = transport->listen(address, ignore);
  REQUIRE_FALSE(taken);
  CHECK(taken.error().code() == ErrorCode::already_exists);
  CHECK(taken.error().message().find(address) != std::string::npos);

  for (const char* bad : {"tcp:127.0.0.1:0", "tcp:127.0.0.1", "tcp:", "udp:127.0.0.1:1", "127.0.0.1:1"}) {
    INFO(bad);
    const auto refused = connect(bad);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == ErrorCode::invalid_argument);
    const std::string named = std::string(bad).substr(std::string(bad).starts_with("tcp:") ? 4 : 0);
    CHECK(refused.error().message().find(named) != std::string::npos);
  }
  const auto nobody = connect("tcp:127.0.0.1:1");
  REQUIRE_FALSE(nobody);
  CHECK(nobody.error().code() == ErrorCode::unavailable);
  const auto unknown = connect("tcp:no-such-host.invalid:1");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message().find("no-such-host.invalid") != std::string::npos);
}

TEST_CASE_FIXTURE(Sockets, "an unencrypted stream never leaves the machine, neither way") {
  for (const char* outside : {"tcp:0.0.0.0:0", "tcp:[::]:0", "tcp:192.0.2.1:7077"}) {
    INFO(outside);
    const auto listener = transport->listen(outside, [](Result<std::shared_ptr<Stream>>) {});
    REQUIRE_FALSE(listener);
    CHECK(listener.error().code() == ErrorCode::permission_denied);
  }
  const auto stream = connect("tcp:192.0.2.1:7077");
  REQUIRE_FALSE(stream);
  CHECK(stream.error().code() == ErrorCode::permission_denied);
}

TEST_CASE_FIXTURE(Sockets, "over TLS a peer with another token, or one that speaks plain TCP, is refused") {
  struct Told {
    std::promise<ErrorCode> first;
    std::atomic<int> count = 0;
  };
  auto told = std::make_shared<Told>();
  auto listener = transport->listen("tls:127.0.0.1:0", [told](Result<std::shared_ptr<Stream>> stream) {
    if (told->count++ == 0) told->first.set_value(stream ? ErrorCode::internal : stream.error().code());
  });
  REQUIRE(listener);
  const std::string address = (*listener)->address();
  const auto stranger = make_tls_transport(context, "another token");
  const auto refused = connect(*stranger, address);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::permission_denied);
  CHECK(refused.error().message().find(address) != std::string::npos);
  CHECK(told->first.get_future().get() == ErrorCode::permission_denied);

  const auto plain = connect("tcp" + address.substr(3));
  REQUIRE(plain);
  std::array<std::byte, 64> bytes{};
  const std::array<std::byte, 64> nonsense{};
  auto written = std::make_shared<std::promise<void>>();
  (*plain)->write(nonsense, [written](Result<std::size_t>) { written->set_value(); });
  written->get_future().get();
  while (read_some(**plain, bytes)) {  // an alert, perhaps, and the end
  }
  CHECK(connect(address));

  const auto tokenless = make_tls_transport(context, "");
  const auto none = tokenless->listen("tls:127.0.0.1:0", [](Result<std::shared_ptr<Stream>>) {});
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == ErrorCode::failed_precondition);
}

/// A server with a certificate of its own making instead of the key.
asio::ssl::context impostor() {
  asio::ssl::context context(asio::ssl::context::tls_server);
  EVP_PKEY* key = EVP_RSA_gen(2048);
  X509* certificate = X509_new();
  X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_sign(certificate, key, EVP_sha256());
  CHECK(SSL_CTX_use_certificate(context.native_handle(), certificate) == 1);
  CHECK(SSL_CTX_use_PrivateKey(context.native_handle(), key) == 1);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return context;
}

TEST_CASE_FIXTURE(Sockets, "over TLS a certificate does not stand in for the token") {
  asio::io_context own;
  asio::ip::tcp::acceptor acceptor(own, {asio::ip::address_v4::loopback(), 0});
  auto pretending = impostor();
  std::promise<asio::error_code> server_saw;
  std::thread server([&] {
    asio::ssl::stream<asio::ip::tcp::socket> stream(acceptor.accept(), pretending);
    asio::error_code code;
    stream.handshake(asio::ssl::stream_base::server, code);
    std::array<char, 1> byte{};
    if (!code) stream.read_some(asio::buffer(byte), code);
    server_saw.set_value(code);
  });
  const auto refused = connect("tls:127.0.0.1:" + std::to_string(acceptor.local_endpoint().port()));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == ErrorCode::permission_denied);
  CHECK(server_saw.get_future().get());
  server.join();
}

}  // namespace
}  // namespace tandem::runtime
