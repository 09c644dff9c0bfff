/// tandem-trial-host: the template that trial hosts are forked from. Started by a worker, never by hand.
#include "actors/worker/trial_host.hpp"
#include "actors/workloads/workload_registry.hpp"
#include "runtime/base/file_system.hpp"
#include "runtime/host/template_server.hpp"

int main() {
  tandem::PosixFileSystem files;
  tandem::actors::WorkloadRegistry sessions;
  tandem::runtime::TemplateCallbacks callbacks;
  std::string preparation;
  callbacks.prepare = [&](std::string_view payload) {
    preparation = payload;
    return tandem::actors::prepare_trial_host(payload, sessions);
  };
  callbacks.child_main = [&](std::string_view) { return tandem::actors::run_trial_host(preparation, sessions, files); };
  return tandem::runtime::serve_template(tandem::runtime::kTemplateControlDescriptor, callbacks, files);
}
