#include "tools/cli/stored_study.hpp"

#include <vector>

#include "tuner/limits.hpp"
#include "tuner/study/study_spec.hpp"

namespace tandem::tools {
namespace {

bool looks_like_file(const Surroundings& surroundings, const std::string& text) {
  return text.ends_with(".toml") || text.find('/') != std::string::npos ||
         (surroundings.files.exists(text) && !surroundings.files.is_directory(text));
}

Result<std::string> study_name(const Surroundings& surroundings, const std::string& name_or_file) {
  if (!looks_like_file(surroundings, name_or_file)) return name_or_file;
  const auto text = read_study_file(surroundings, name_or_file);
  if (!text) return forward_error(text);
  const auto spec = tuner::parse_study(*text, name_or_file, {}, tuner::StudyUse::asktell);
  if (!spec) return forward_error(spec);
  return spec->name;
}

Result<StoredStudy> no_such_study(tuner::Store& store, const std::string& name, const std::string& directory) {
  const auto all = store.studies();
  if (!all) return forward_error(all);
  std::vector<std::string> names;
  for (const auto& record : *all) names.push_back(record.name);
  if (names.empty()) return fail(ErrorCode::not_found, "no study '{}': {} holds none", name, directory);
  return fail(ErrorCode::not_found, "no study '{}' in {}; there are: {}", name, directory, fmt::join(names, ", "));
}

}  // namespace

Result<std::string> read_study_file(const Surroundings& surroundings, const std::string& path) {
  auto text = surroundings.files.read_file(path, tuner::limits::kMaxStudyFileBytes);
  if (!text) return fail(ErrorCode::invalid_argument, "study file {}", text.error().message());
  return text;
}

Result<StoredStudy> load_stored_study(const Surroundings& surroundings, const CommonOptions& common,
                                      const std::string& name_or_file) {
  const auto name = study_name(surroundings, name_or_file);
  if (!name) return forward_error(name);
  const auto directory = state_directory_of(surroundings, common);
  if (!directory) return forward_error(directory);
  const auto store = tuner::open_sqlite_store_read_only(*directory);
  if (!store) return forward_error(store, fmt::format("study '{}'", *name));
  auto record = (*store)->find(*name);
  if (!record) return forward_error(record);
  if (!record->has_value()) return no_such_study(**store, *name, *directory);

  const auto events = (*store)->events(*name);
  if (!events) return forward_error(events);
  auto spec =
      tuner::parse_study((**record).source, fmt::format("study '{}' as stored", *name), {}, tuner::StudyUse::asktell);
  if (!spec) return forward_error(spec);
  auto study = tuner::Study::replay(std::move(*spec), (**record).seed, *events);
  if (!study) return forward_error(study, fmt::format("study '{}' as stored", *name));
  return StoredStudy{std::move(**record), std::move(*study)};
}

}  // namespace tandem::tools
