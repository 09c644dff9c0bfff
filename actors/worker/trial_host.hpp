/// Trial host: one process per running trial, forked from a warm template. Its main thread is the compute thread.
#pragma once

#include <string>
#include <string_view>

#include "actors/trial/training_session.hpp"
#include "runtime/base/file_system.hpp"
#include "runtime/base/result.hpp"

namespace tandem::actors {

/// Prepares a template: loads the data set, so that hosts share its pages, and steps the workload once.
Result<> prepare_trial_host(std::string_view preparation, SessionFactory& sessions);

/// The forked host: warms up, joins its worker, serves one trial, and returns the exit code when the worker goes.
int run_trial_host(std::string_view preparation, SessionFactory& sessions, FileSystem& files);

}  // namespace tandem::actors
