#include "actors/study/study_opening.hpp"

namespace tandem::actors {

std::string checkpoint_root(const std::string& state_directory, const std::string& study) {
  return state_directory + "/checkpoints/" + study;
}

namespace {

void remove_checkpoints(FileSystem& files, const std::string& root) {
  const auto trials = files.list(root);
  if (!trials) return;
  for (const auto& trial : *trials) {
    const std::string directory = root + "/" + trial;
    const auto names = files.list(directory);
    if (!names) continue;
    for (const auto& name : *names) (void)files.remove(directory + "/" + name);
    (void)files.remove(directory);
  }
  (void)files.remove(root);
}

Result<tuner::Study> begin_study(const TuneOptions& options, tuner::Store& store, const Clock& clock) {
  auto study = tuner::Study::create(options.spec, options.seed);
  if (!study) return study;
  tuner::StudyRecord record;
  record.name = options.spec.name;
  record.source = options.spec.source;
  record.seed = options.seed;
  record.created_unix_nanoseconds = clock.unix_nanoseconds();
  if (auto made = store.create(record); !made) return forward_error(made);
  return study;
}

tl::unexpected<Error> refuse_ended(std::string_view name, std::string_view state) {
  return fail(ErrorCode::already_exists, "study '{}' has {} already; --fresh forgets it and starts anew", name, state);
}

Result<tuner::Study> resume_study(const TuneOptions& options, tuner::Store& store, const tuner::StudyRecord& record) {
  if (record.source != options.spec.source) {
    return fail(ErrorCode::failed_precondition,
                "study '{}': its file or --set differs from what it was started with; to go on, undo the change and "
                "give the same --set again, or start anew with --fresh",
                record.name);
  }
  auto events = store.events(record.name);
  if (!events) return forward_error(events);
  auto study = tuner::Study::replay(options.spec, record.seed, *events);
  if (!study) return study;
  if (study->state() == "finished" || study->state() == "failed") {
    // A crash came between its last event and the note of its end.
    if (auto noted = store.set_state(record.name, study->state()); !noted) return forward_error(noted);
    return refuse_ended(record.name, study->state());
  }
  if (auto running = store.set_state(record.name, "running"); !running) return forward_error(running);
  return study;
}

}  // namespace

Result<tuner::Study> open_study(const TuneOptions& options, tuner::Store& store, FileSystem& files,
                                const Clock& clock) {
  const std::string& name = options.spec.name;
  if (auto claimed = store.claim(name); !claimed) return forward_error(claimed);
  auto record = store.find(name);
  if (!record) return forward_error(record);
  if (*record && options.fresh) {
    // The old study goes only for one that can be made.
    if (auto possible = tuner::Study::create(options.spec, options.seed); !possible) return possible;
    if (auto erased = store.erase(name); !erased) return forward_error(erased);
    remove_checkpoints(files, checkpoint_root(options.state_directory, name));
    record->reset();
  }
  if (!*record) return begin_study(options, store, clock);
  if ((*record)->state == "finished" || (*record)->state == "failed") {
    return refuse_ended(name, (*record)->state);
  }
  if (!options.resume) {
    return fail(ErrorCode::failed_precondition,
                "study '{}' is unfinished in {}: go on with --resume, or start anew with --fresh", name,
                options.state_directory);
  }
  return resume_study(options, store, **record);
}

}  // namespace tandem::actors
