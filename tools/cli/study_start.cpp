#include "tools/cli/study_start.hpp"

namespace tandem::tools {
namespace {

Result<> refuse_existing(const tuner::StudyRecord& record) {
  if (record.state == "finished") {
    return fail(ErrorCode::already_exists, "study '{}' is finished; --fresh forgets it and starts anew", record.name);
  }
  return fail(ErrorCode::failed_precondition,
              "study '{}' exists and is unfinished; --resume goes on with it, --fresh forgets it and starts anew",
              record.name);
}

Result<StartedStudy> resume_study(tuner::Store& store, const tuner::StudyRecord& record, const tuner::StudySpec& now) {
  auto spec =
      tuner::parse_study(record.source, fmt::format("study '{}' as stored", record.name), {}, tuner::StudyUse::asktell);
  if (!spec) return forward_error(spec);
  const auto events = store.events(record.name);
  if (!events) return forward_error(events);
  auto study = tuner::Study::replay(std::move(*spec), record.seed, *events);
  if (!study) return forward_error(study, fmt::format("study '{}' as stored", record.name));
  return StartedStudy{std::move(*study), true, record.source != now.source};
}

Result<StartedStudy> create_study(tuner::Store& store, tuner::StudySpec spec, std::uint64_t seed, const Clock& clock) {
  tuner::StudyRecord record;
  record.name = spec.name;
  record.source = spec.source;
  record.seed = seed;
  record.created_unix_nanoseconds = clock.unix_nanoseconds();
  // Made first: a space that the search refuses leaves nothing behind.
  auto study = tuner::Study::create(std::move(spec), seed);
  if (!study) return forward_error(study);
  if (const auto created = store.create(record); !created) return forward_error(created);
  return StartedStudy{std::move(*study), false, false};
}

}  // namespace

Result<StartedStudy> start_study(tuner::Store& store, tuner::StudySpec spec, const StudyOptions& options,
                                 const Clock& clock) {
  const std::string name = spec.name;
  if (const auto claimed = store.claim(name); !claimed) return forward_error(claimed);
  const auto record = store.find(name);
  if (!record) return forward_error(record);
  const std::uint64_t seed = choose_seed(options, spec);
  if (record->has_value() && options.fresh) {
    // The old study goes only for one that can be made.
    if (auto possible = tuner::Study::create(spec, seed); !possible) return forward_error(possible);
    if (const auto erased = store.erase(name); !erased) return forward_error(erased);
  } else if (record->has_value()) {
    if (options.resume) return resume_study(store, **record, spec);
    if (const auto refused = refuse_existing(**record); !refused) return forward_error(refused);
  }
  return create_study(store, std::move(spec), seed, clock);
}

}  // namespace tandem::tools
