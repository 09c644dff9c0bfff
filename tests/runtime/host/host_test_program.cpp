// What the tests of templates start: "template" serves forks; "worker" launches such a template, forks hosts from it,
// prints their pids and waits to be killed.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/host/template_client.hpp"
#include "runtime/host/template_server.hpp"

namespace {

using namespace tandem;
using namespace tandem::runtime;

std::string prepared_with;

[[noreturn]] void wait_to_be_killed() {
  for (;;) ::pause();
}

int run_host(std::string_view payload) {
  if (payload.starts_with("exit ")) return std::atoi(std::string(payload.substr(5)).c_str());
  if (payload == "wait") wait_to_be_killed();
  if (payload == "abort") std::abort();
  if (payload == "throw") throw std::runtime_error("thrown on purpose");
  if (payload == "bad_alloc") throw std::bad_alloc();
  if (payload == "terminate") {
    ::kill(::getpid(), SIGTERM);
    return 1;
  }
  if (payload == "prepared?") return prepared_with == "digits" ? 0 : 1;
  if (payload == "leads its group?") return ::getpgrp() == ::getpid() ? 0 : 1;
  if (payload == "holds the control stream?") return ::write(kTemplateControlDescriptor, "", 0) == 0 ? 1 : 0;
  if (payload == "burn") {  // 64 MiB touched, then some processor time
    std::vector<char> block(std::size_t{64} << 20, 'x');
    volatile unsigned long work = 0;
    for (unsigned long i = 0; i < 60'000'000; ++i) work = work + static_cast<unsigned char>(block[i % block.size()]);
    return 0;
  }
  if (payload == "grow") {  // by 8 MiB at a time, without an end; freed on the way out
    for (std::vector<std::vector<char>> blocks;;) blocks.emplace_back(std::size_t{8} << 20, 'x');
  }
  if (payload.starts_with("hog ")) {  // announces itself once it holds 64 MiB
    const int announce = std::atoi(std::string(payload.substr(4)).c_str());
    std::vector<char> block(std::size_t{64} << 20, 'x');
    if (::write(announce, block.data(), 1) != 1) return 1;
    wait_to_be_killed();
  }
  return 99;
}

int run_template() {
  TemplateCallbacks callbacks;
  callbacks.prepare = [](std::string_view payload) -> Result<> {
    if (payload == "fail") return fail(ErrorCode::not_found, "no such data set");
    if (payload == "throw") throw std::runtime_error("thrown on purpose");
    if (payload == "hang") wait_to_be_killed();
    prepared_with = payload;
    return {};
  };
  callbacks.child_main = run_host;
  return serve_template(kTemplateControlDescriptor, callbacks, PosixFileSystem());
}

int run_worker(const char* program, int hosts) {
  PosixProcessLauncher launcher;
  PosixFileSystem files;
  SystemClock clock;
  ProcessSpec spec;
  spec.argv = {program, "template"};
  // The pipe behind standard output stays with all of them: its end tells when the last is gone.
  std::promise<void> all_forked;
  int forked = 0;
  auto client = TemplateClient::launch(launcher, files, clock, spec, [&](const TemplateNotice& notice) {
    const auto* child = std::get_if<ChildForked>(&notice);
    if (child == nullptr) return;
    std::printf("%d\n", child->child.pid);
    if (++forked == hosts) all_forked.set_value();
  });
  if (!client) return 1;
  for (int i = 0; i < hosts; ++i) {
    if (!(*client)->fork_child("wait")) return 1;
  }
  all_forked.get_future().wait();
  std::printf("%d\nready\n", (*client)->identity().pid);
  std::fflush(stdout);
  wait_to_be_killed();
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view mode = count > 1 ? arguments[1] : "";
  if (mode == "template") return run_template();
  if (mode == "worker" && count > 2) return run_worker(arguments[0], std::atoi(arguments[2]));
  if (mode == "exit at once") return 7;
  std::fprintf(stderr, "usage: %s template | worker HOSTS\n", arguments[0]);
  return 2;
}
