/// StudySpec: a study file (TOML) after parsing and validation. See README, "Study file".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "tuner/space/space.hpp"
#include "tuner/space/value.hpp"

namespace tandem::tuner {

struct Objective {
  std::string name;  ///< a reported value, e.g. "accuracy"
  bool maximize = true;
};

/// [trial]: either a built-in workload on a data set, or a command.
struct TrialSpec {
  std::string workload;
  std::string dataset;
  std::vector<std::string> command;
  int epochs = 10;                ///< full resource of a trial
  std::int64_t memory_bytes = 0;  ///< that one trial leases, and is ended beyond; 0: no limit of its own
};

/// [search]
struct SearchSpec {
  std::string algorithm = "random";  ///< random | grid
};

/// [schedule]
struct ScheduleSpec {
  std::string algorithm = "none";  ///< none | asha
  int reduction_factor = 3;        ///< η ≥ 2
  int min_epochs = 1;              ///< lowest rung
  bool promotion = false;          ///< variant = "promotion" instead of "stopping"
};

enum class SystemMode { fixed, search, pipeline };  ///< Tune V1, Tune V2, PipeTune
enum class SystemDefaults { lease, framework };     ///< framework: untouched, for benchmarks only
enum class SystemObjective { time, energy };

/// [system]: the mode, and for each system parameter the values it may take (empty: the catalog's own).
struct SystemSpec {
  SystemMode mode = SystemMode::pipeline;
  SystemDefaults defaults = SystemDefaults::lease;
  SystemObjective objective = SystemObjective::time;
  double probe_budget = 0.05;  ///< excess seconds allowed, as a share of the training seconds
  std::map<std::string, std::vector<Value>, std::less<>> values;  ///< "cores" → {1, 2}, …
};

struct StudySpec {
  std::string name;
  std::vector<Objective> objectives;
  int max_trials = 10;
  int max_parallel = 0;  ///< trials at a time; 0: as many as the leases allow
  std::optional<std::uint64_t> seed;
  TrialSpec trial;
  Space space;
  SearchSpec search;
  ScheduleSpec schedule;
  SystemSpec system;
  std::string source;  ///< the TOML text it was read from, overrides applied; kept with the study
};

/// What the study is read for; it decides what the file may leave out.
enum class StudyUse {
  tune,      ///< [trial] with a workload, and [space], must be there
  asktell,   ///< the caller trains: [trial] may be absent, or name epochs only; a command is not run
  simulate,  ///< [trial] and [space] may both be absent: the function's own are taken
};

/// Reads a study file. `file_name` is used in errors only:
/// "lenet.toml:12: [schedule] reduction_factor = 1: must be at least 2".
/// `overrides` are "table.key=value" with TOML values (a bare word is a string), from --set; errors name the override
/// instead of a line. Without [trial] a trial has one epoch; with it, 10 unless it says otherwise.
[[nodiscard]] Result<StudySpec> parse_study(std::string_view toml_text, std::string_view file_name,
                                            const std::vector<std::string>& overrides = {},
                                            StudyUse use = StudyUse::tune);

}  // namespace tandem::tuner
