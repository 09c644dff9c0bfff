/// Trial hosts are forked from a template that has stepped already. A program of its own: the template must be
/// single-threaded.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "actors/workloads/workload_registry.hpp"

namespace tandem::actors {
namespace {

constexpr unsigned kHangSeconds = 120;

SessionSpec digits_spec() {
  SessionSpec spec;
  spec.workload = "lenet5";
  spec.dataset = "digits";
  spec.data_directory = std::string(TANDEM_SOURCE_DIR) + "/actors/workloads/data";
  spec.params = {{"batch_size", std::int64_t{50}}, {"dropout", 0.3}};
  return spec;
}

/// The state after a few steps.
Result<std::string> train(WorkloadRegistry& registry, std::int64_t replicas, const char* allocator) {
  auto session = registry.open(digits_spec());
  if (!session) return forward_error(session);
  const auto applied = (*session)->apply({{"threads", std::int64_t{1}},
                                          {"replicas", replicas},
                                          {"micro_batch", std::int64_t{25}},
                                          {"allocator", std::string(allocator)}});
  if (!applied) return forward_error(applied);
  for (int i = 0; i < 3; ++i) {
    if (const auto stepped = (*session)->step(); !stepped) return forward_error(stepped);
  }
  return (*session)->save();
}

/// What a forked host trains.
std::string train_in_fork(WorkloadRegistry& registry, std::int64_t replicas, const char* allocator) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t host = ::fork();
  if (host == 0) {
    ::alarm(kHangSeconds);  // a hang becomes a failure
    const auto trained = train(registry, replicas, allocator);
    const std::string state = trained ? *trained : trained.error().message();
    std::size_t written = 0;
    while (written < state.size()) {
      const ssize_t count = ::write(ends[1], state.data() + written, state.size() - written);
      if (count <= 0) ::_exit(1);
      written += static_cast<std::size_t>(count);
    }
    ::_exit(trained ? 0 : 1);
  }
  ::close(ends[1]);
  std::string state;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
    state.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ::close(ends[0]);
  int status = 1;
  REQUIRE(::waitpid(host, &status, 0) == host);
  INFO((status == 0 ? std::string() : state));  // the host's error
  REQUIRE(status == 0);
  return state;
}

TEST_CASE("hosts forked from a warm template train, with one replica and with several, bit by bit the same") {
  WorkloadRegistry registry;
  const SessionSpec spec = digits_spec();
  REQUIRE(runtime::TorchBackend().set_threads(1));
  REQUIRE(registry.preload(spec.dataset, spec.data_directory));
  REQUIRE(registry.warm_up(spec.workload, spec.dataset, spec.data_directory, 1));
  const std::string one = train_in_fork(registry, 1, "default");
  CHECK(train_in_fork(registry, 2, "default") == one);
  CHECK(train_in_fork(registry, 2, "retain") == one);
  CHECK(train(registry, 1, "default").value() == one);
}

}  // namespace
}  // namespace tandem::actors
