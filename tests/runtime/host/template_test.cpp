#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstring>
#include <functional>
#include <future>
#include <mutex>
#include <set>
#include <vector>

#include "runtime/base/file_system.hpp"
#include "runtime/base/limits.hpp"
#include "runtime/host/control_frame.hpp"
#include "runtime/host/memory.hpp"
#include "runtime/host/template_client.hpp"
#include "runtime/host/template_server.hpp"
#include "schemas/host.capnp.h"

using namespace tandem;
using namespace tandem::runtime;

namespace {

/// A running template and what it has told so far.
class Fixture {
 public:
  Fixture() {
    auto launched = TemplateClient::launch(launcher_, files_, clock_, spec(), [this](const TemplateNotice& notice) {
      const std::lock_guard lock(mutex_);
      notices_.push_back(notice);
      changed_.notify_all();
    });
    REQUIRE(launched);
    client = std::move(*launched);
  }

  static ProcessSpec spec() {
    ProcessSpec spec;
    spec.argv = {HOST_TEST_PROGRAM, "template"};
    return spec;
  }

  /// The first notice of type T that `matches`, waited for.
  template <class T>
  T wait_for(std::function<bool(const T&)> matches = [](const T&) { return true; }) {
    std::unique_lock lock(mutex_);
    for (;;) {
      for (const auto& notice : notices_) {
        const T* wanted = std::get_if<T>(&notice);
        if (wanted != nullptr && matches(*wanted)) return *wanted;
      }
      changed_.wait(lock);
    }
  }

  template <class T>
  int count() {
    const std::lock_guard lock(mutex_);
    int found = 0;
    for (const auto& notice : notices_) found += std::holds_alternative<T>(notice) ? 1 : 0;
    return found;
  }

  ProcessIdentity fork(std::string_view payload) {
    const auto ticket = client->fork_child(payload);
    REQUIRE(ticket);
    return wait_for<ChildForked>([&](const auto& forked) { return forked.ticket == *ticket; }).child;
  }

  ChildExited exit_of(ProcessIdentity child) {
    return wait_for<ChildExited>([&](const auto& exited) { return exited.child == child; });
  }

 private:
  PosixProcessLauncher launcher_;
  PosixFileSystem files_;
  SystemClock clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<TemplateNotice> notices_;

 public:
  std::unique_ptr<TemplateClient> client;  // last, so that no notice outlives what it is put into
};

bool gone(ProcessIdentity process) {
  const auto sent = signal_process(process, 0);
  return !sent && sent.error().code() == ErrorCode::not_found;
}

/// Waits for the end of a process that is nobody's child here, and closes its pidfd; false after a minute.
bool ended(int pidfd) {
  pollfd waiting{pidfd, POLLIN, 0};
  const bool told = ::poll(&waiting, 1, 60'000) == 1;
  ::close(pidfd);
  return told;
}

/// Reads until `text` ends with `ending` or the stream does; false if neither came in a minute.
bool read_until(int fd, std::string& text, std::string_view ending) {
  for (;;) {
    if (!ending.empty() && text.ends_with(ending)) return true;
    pollfd waiting{fd, POLLIN, 0};
    if (::poll(&waiting, 1, 60'000) != 1) return false;
    char bytes[512];
    const ssize_t count = ::read(fd, bytes, sizeof bytes);
    if (count <= 0) return ending.empty();
    text.append(bytes, static_cast<std::size_t>(count));
  }
}

}  // namespace

TEST_CASE("how a forked host ends is told with its cause") {
  Fixture fixture;
  fixture.wait_for<TemplateReady>();
  struct Case {
    const char* payload;
    int code;
    int signal;
    ExitCause cause;
  };
  const Case cases[] = {
      {"exit 0", 0, 0, ExitCause::stopped},
      {"exit 3", 3, 0, ExitCause::failed},
      {"throw", 1, 0, ExitCause::failed},
      {"abort", 0, SIGABRT, ExitCause::failed},
      {"terminate", 0, SIGTERM, ExitCause::killed},
      {"bad_alloc", kOutOfMemoryExitCode, 0, ExitCause::out_of_memory},
      {"leads its group?", 0, 0, ExitCause::stopped},
      {"holds the control stream?", 0, 0, ExitCause::stopped},
  };
  for (const auto& [payload, code, signal, cause] : cases) {
    CAPTURE(payload);
    const auto exited = fixture.exit_of(fixture.fork(payload));
    CHECK(exited.status.code == code);
    CHECK(exited.status.signal == signal);
    CHECK(to_string(exited.cause) == to_string(cause));
    CHECK_FALSE(exited.detail.empty());
  }
}

TEST_CASE("a host's memory and processor time are accounted to it") {
  Fixture fixture;
  const auto exited = fixture.exit_of(fixture.fork("burn"));
  CHECK(exited.status.success());
  CHECK(exited.status.peak_resident_bytes >= std::int64_t{64} << 20);
  CHECK(exited.status.user_seconds + exited.status.system_seconds > 0);
}

TEST_CASE("what the template was prepared with, its hosts have") {
  Fixture fixture;
  REQUIRE(fixture.client->prepare("digits"));
  CHECK_FALSE(fixture.wait_for<TemplatePrepared>().error);
  CHECK(fixture.exit_of(fixture.fork("prepared?")).cause == ExitCause::stopped);
}

TEST_CASE("a preparation that fails or throws is told, and the template lives on") {
  for (const char* payload : {"fail", "throw"}) {
    CAPTURE(payload);
    Fixture fixture;
    REQUIRE(fixture.client->prepare(payload));
    const auto prepared = fixture.wait_for<TemplatePrepared>();
    REQUIRE(prepared.error);
    CHECK_FALSE(prepared.error->message().empty());
    CHECK(fixture.exit_of(fixture.fork("exit 0")).cause == ExitCause::stopped);
  }
}

TEST_CASE("a killed host is told as killed, one over its memory limit as out of memory, and neither twice") {
  Fixture fixture;
  const auto first = fixture.fork("wait");
  const auto second = fixture.fork("wait");
  const auto third = fixture.fork("wait");
  REQUIRE(fixture.client->kill_child(first));
  REQUIRE(fixture.client->kill_child(second, KillReason::memory_limit));
  REQUIRE(signal_process(third, SIGKILL));  // by somebody else
  CHECK(fixture.exit_of(first).cause == ExitCause::killed);
  CHECK(fixture.exit_of(second).cause == ExitCause::out_of_memory);
  CHECK(fixture.exit_of(third).cause == ExitCause::killed);
  CHECK(fixture.client->kill_child(first).error().code() == ErrorCode::not_found);
  CHECK(fixture.count<ChildExited>() == 3);
  for (const auto& child : {first, second, third}) CHECK(gone(child));
}

TEST_CASE("a host's growth is seen in its group, so that it can be ended for it") {
  PosixFileSystem files;
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  PosixProcessLauncher launcher;
  SystemClock clock;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<ProcessIdentity> child;
  std::optional<ChildExited> exited;
  auto spec = Fixture::spec();
  spec.descriptors[5] = ends[1];
  auto client = TemplateClient::launch(launcher, files, clock, spec, [&](const TemplateNotice& notice) {
    const std::lock_guard lock(mutex);
    if (const auto* forked = std::get_if<ChildForked>(&notice)) child = forked->child;
    if (const auto* ended = std::get_if<ChildExited>(&notice)) exited = *ended;
    changed.notify_all();
  });
  REQUIRE(client);
  REQUIRE((*client)->fork_child("hog 5"));
  char byte;
  REQUIRE(::read(ends[0], &byte, 1) == 1);
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return child.has_value(); });
  const auto resident = group_resident_bytes(files, child->pid);
  REQUIRE(resident);
  CHECK(*resident >= std::int64_t{64} << 20);
  REQUIRE((*client)->kill_child(*child, KillReason::memory_limit));
  changed.wait(lock, [&] { return exited.has_value(); });
  CHECK(exited->cause == ExitCause::out_of_memory);
  lock.unlock();
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("a host that outgrows its memory limit is killed, and told as out of memory with limit and size") {
  Fixture fixture;
  const auto neighbour = fixture.fork("wait");
  REQUIRE(fixture.client->limit_child(neighbour, std::int64_t{1} << 40));
  const auto host = fixture.fork("grow");
  REQUIRE(fixture.client->limit_child(host, std::int64_t{256} << 20));
  const auto exited = fixture.exit_of(host);
  CHECK(exited.cause == ExitCause::out_of_memory);
  CHECK(exited.status.signal == SIGKILL);
  CAPTURE(exited.detail);
  CHECK(exited.detail.find("exceeded its memory limit of 256.0 MiB") != std::string::npos);
  CHECK_FALSE(gone(neighbour));
  CHECK(fixture.client->limit_child(host, 1).error().code() == ErrorCode::not_found);
  CHECK(fixture.client->limit_child(neighbour, 0).error().code() == ErrorCode::invalid_argument);
}

TEST_CASE("a limit put on a host that holds more already ends it") {
  Fixture fixture;
  const auto host = fixture.fork("wait");
  REQUIRE(fixture.client->limit_child(host, 4096));
  CHECK(fixture.exit_of(host).cause == ExitCause::out_of_memory);
}

TEST_CASE("groups of owners that have died are removed, those of the living stay") {
  MemoryFileSystem files;
  files.seed("/proc/self/cgroup", "4:memory:/\n");
  files.seed("/proc/self/mountinfo", "30 20 0:26 / /cg/memory rw - cgroup cgroup rw,memory\n");
  files.seed("/proc/17/stat", "");
  for (const char* name : {"tandem-17-4", "tandem-16-4", "tandem-x", "other"}) {
    REQUIRE(files.make_directories(std::string("/cg/memory/") + name));
  }
  MemoryGroup::remove_stale(files);
  CHECK(files.exists("/cg/memory/" + MemoryGroup::name_for(17, 4)));
  CHECK_FALSE(files.exists("/cg/memory/" + MemoryGroup::name_for(16, 4)));
  CHECK(files.exists("/cg/memory/tandem-x"));
  CHECK(files.exists("/cg/memory/other"));
}

TEST_CASE("shutdown ends the hosts, tells their ends and then the template's, once") {
  Fixture fixture;
  const auto first = fixture.fork("wait");
  const auto second = fixture.fork("wait");
  fixture.client->shutdown(std::chrono::seconds(60));
  const auto ended = fixture.wait_for<TemplateEnded>();
  CHECK(ended.requested);
  CHECK(ended.detail.find("exited with code 0") != std::string::npos);
  CHECK(fixture.count<ChildExited>() == 2);
  CHECK(fixture.exit_of(first).cause == ExitCause::killed);
  CHECK(gone(first));
  CHECK(gone(second));
  CHECK(gone(fixture.client->identity()));
  CHECK(fixture.client->fork_child("wait").error().code() == ErrorCode::unavailable);
  fixture.client->shutdown(Duration::zero());
  CHECK(fixture.count<TemplateEnded>() == 1);
}

TEST_CASE("a template that does not listen is killed at the deadline, and its hosts with it") {
  Fixture fixture;
  const auto host = fixture.fork("wait");
  const int watched = static_cast<int>(::syscall(SYS_pidfd_open, host.pid, 0));
  REQUIRE(watched >= 0);
  REQUIRE(fixture.client->prepare("hang"));
  fixture.client->shutdown(std::chrono::milliseconds(1));
  CHECK(fixture.wait_for<TemplateEnded>().requested);
  CHECK(gone(fixture.client->identity()));
  CHECK(ended(watched));  // the kernel tells the host a moment after its parent's end
}

TEST_CASE("a template that dies is told once, with how, and requests are refused from then on") {
  Fixture fixture;
  fixture.wait_for<TemplateReady>();
  REQUIRE(signal_process(fixture.client->identity(), SIGKILL));
  const auto ended = fixture.wait_for<TemplateEnded>();
  CHECK_FALSE(ended.requested);
  CHECK(ended.detail.find("SIGKILL") != std::string::npos);
  CHECK(fixture.client->prepare("digits").error().code() == ErrorCode::unavailable);
  fixture.client.reset();
  CHECK(fixture.count<TemplateEnded>() == 1);
}

TEST_CASE("a template that is none, or cannot be started, is an error or an end, not a hang") {
  PosixProcessLauncher launcher;
  PosixFileSystem files;
  SystemClock clock;
  ProcessSpec missing;
  missing.argv = {"/no/such/template"};
  const auto refused = TemplateClient::launch(launcher, files, clock, missing, [](const TemplateNotice&) {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message().find("/no/such/template") != std::string::npos);

  ProcessSpec none;
  none.argv = {HOST_TEST_PROGRAM, "exit at once"};
  std::promise<std::string> detail;
  auto client = TemplateClient::launch(launcher, files, clock, none, [&](const TemplateNotice& notice) {
    if (const auto* ended = std::get_if<TemplateEnded>(&notice)) detail.set_value(ended->detail);
  });
  REQUIRE(client);
  CHECK(detail.get_future().get().find("exited with code 7") != std::string::npos);
}

TEST_CASE("requests beyond the limits are refused with their size or number") {
  Fixture fixture;
  CHECK(fixture.client->fork_child(std::string(limits::kTemplateFrameBytes, 'x')).error().code() ==
        ErrorCode::resource_exhausted);
  REQUIRE(fixture.client->prepare("hang"));  // little is read from now on
  const std::string payload(std::size_t{64} << 10, 'x');
  Result<> outcome;
  for (std::size_t i = 0; outcome && i < 2 * limits::kTemplateRequests; ++i) outcome = fixture.client->prepare(payload);
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().code() == ErrorCode::resource_exhausted);
  fixture.client->shutdown(Duration::zero());
}

TEST_CASE("kill -9 of the worker leaves neither template nor hosts behind") {
  PosixProcessLauncher launcher;
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  ProcessSpec spec;
  spec.argv = {HOST_TEST_PROGRAM, "worker", "3"};
  spec.standard_output = StreamSource::from(ends[1]);
  auto worker = launcher.spawn(spec);
  ::close(ends[1]);
  REQUIRE(worker);
  std::string text;
  REQUIRE(read_until(ends[0], text, "ready\n"));
  std::vector<ProcessIdentity> family;
  const char* at = text.c_str();
  for (int i = 0; i < 4; ++i) {
    char* end = nullptr;
    const auto identity = identify_process(static_cast<int>(std::strtol(at, &end, 10)));
    REQUIRE(identity);
    family.push_back(*identity);
    at = end;
  }
  REQUIRE((*worker)->kill(SIGKILL));
  CHECK((*worker)->wait()->signal == SIGKILL);
  // All of them hold the pipe as their standard output: its end tells that the last one has gone.
  CHECK(read_until(ends[0], text, ""));
  ::close(ends[0]);
  CHECK(family.size() == 4);
}

TEST_CASE("a damaged control stream ends the template with an error") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  PosixProcessLauncher launcher;
  auto spec = Fixture::spec();
  spec.descriptors[kTemplateControlDescriptor] = ends[1];
  spec.standard_error = StreamSource::null();
  auto process = launcher.spawn(spec);
  ::close(ends[1]);
  REQUIRE(process);
  const std::uint64_t absurd = UINT64_MAX;
  REQUIRE(::write(ends[0], &absurd, sizeof absurd) == sizeof absurd);
  CHECK((*process)->wait()->code == 1);
  ::close(ends[0]);
}

TEST_CASE("control frames are cut from any split of the stream, and false ones refused") {
  capnp::MallocMessageBuilder message;
  auto order = message.initRoot<schemas::TemplateRequest>().initFork();
  order.setTicket(42);
  const auto frame = encode_control_frame(message);
  REQUIRE(frame);
  ControlFrameReader reader;
  int seen = 0;
  for (int round = 0; round < 2; ++round) {
    for (const char byte : *frame) {
      reader.feed({&byte, 1});
      const auto more = reader.next([&](capnp::MessageReader& received) -> Result<> {
        CHECK(received.getRoot<schemas::TemplateRequest>().getFork().getTicket() == 42);
        ++seen;
        return {};
      });
      REQUIRE(more);
    }
  }
  CHECK(seen == 2);

  for (const std::uint64_t words : {std::uint64_t{0}, limits::kTemplateFrameBytes / 8 + 1, UINT64_MAX}) {
    ControlFrameReader strict;
    strict.feed({reinterpret_cast<const char*>(&words), sizeof words});
    CHECK(strict.next([](capnp::MessageReader&) { return Result<>{}; }).error().code() == ErrorCode::data_loss);
  }
  ControlFrameReader garbage;
  std::string bytes(16, '\xff');
  bytes.replace(0, 8, std::string("\1\0\0\0\0\0\0\0", 8));
  garbage.feed(bytes);
  const auto refused = garbage.next([](capnp::MessageReader& received) -> Result<> {
    (void)received.getRoot<schemas::TemplateRequest>().which();
    return {};
  });
  CHECK(refused.error().code() == ErrorCode::data_loss);
}
