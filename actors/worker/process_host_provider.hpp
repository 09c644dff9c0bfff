/// ProcessHostProvider: warm trial hosts forked from template processes, one template for each environment.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "actors/worker/host_provider.hpp"
#include "runtime/actor/runtime.hpp"
#include "runtime/base/process_launcher.hpp"
#include "runtime/host/template_client.hpp"

namespace tandem::actors {

/// What the hosts shall be warm for, and where they join their worker.
struct HostSettings {
  std::string program;  ///< path of tandem-trial-host
  std::string workload;
  std::string dataset;
  std::string data_directory;
  std::string address;  ///< "unix:PATH" that the worker's runtime listens on
  std::string token;
};

class ProcessHostProvider final : public HostProvider {
 public:
  /// `runtime`, `launcher` and `files` outlive the provider.
  ProcessHostProvider(HostSettings settings, runtime::Runtime& runtime, ProcessLauncher& launcher, FileSystem& files);
  ~ProcessHostProvider() override;

  void attach(runtime::ActorRef worker) override { worker_ = worker; }
  Result<> request(const std::string& environment) override;
  Result<> limit_memory(std::int64_t pid, std::int64_t memory_bytes) override;
  void dismiss(std::int64_t pid) override;
  /// Ends every template and host; waits for them. No host is made or dismissed any more.
  void shutdown();

 private:
  struct Template {
    std::unique_ptr<runtime::TemplateClient> client;
    std::map<std::int64_t, ProcessIdentity> hosts;
    bool ended = false;  ///< and to be launched again at the next request
  };

  /// The template of an environment, launched and prepared at first use.
  Result<Template*> template_for(const std::string& environment);
  void noticed(const std::string& environment, const runtime::TemplateNotice& notice);
  void tell_unavailable(const std::string& environment, const Error& why, bool transient = false);
  void tell_exited(const std::string& environment, std::int64_t pid, std::string_view cause, const std::string& detail);

  HostSettings settings_;
  runtime::Runtime& runtime_;
  ProcessLauncher& launcher_;
  FileSystem& files_;
  runtime::ActorRef worker_;
  std::mutex mutex_;
  std::map<std::string, Template> templates_;
  bool shut_down_ = false;
};

/// Name of the environment in which threads, affinity and allocator are what LibTorch and the C library make them.
inline constexpr const char* kFrameworkEnvironment = "framework";
inline constexpr const char* kLeaseEnvironment = "lease";

}  // namespace tandem::actors
