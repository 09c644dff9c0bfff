#include <algorithm>
#include <map>

#include "tuner/store/store.hpp"

namespace tandem::tuner {

namespace {

class MemoryStore final : public Store {
 public:
  Result<std::vector<StudyRecord>> studies() override {
    std::vector<StudyRecord> records;
    for (const auto& kept : studies_) records.push_back(kept.record);
    return records;
  }

  Result<std::optional<StudyRecord>> find(std::string_view study) override {
    const auto* kept = lookup(study);
    if (kept == nullptr) return std::nullopt;
    return kept->record;
  }

  Result<> create(const StudyRecord& study) override {
    if (lookup(study.name) != nullptr) {
      return fail(ErrorCode::already_exists, "study \"{}\" exists already", study.name);
    }
    studies_.push_back({study, {}});
    return {};
  }

  Result<> erase(std::string_view study) override {
    const auto kept = known(study);
    if (!kept) return forward_error(kept);
    std::erase_if(studies_, [&](const Kept& other) { return other.record.name == study; });
    return {};
  }

  Result<> append(std::string_view study, const std::vector<Event>& events) override {
    const auto kept = known(study);
    if (!kept) return forward_error(kept);
    (*kept)->events.insert((*kept)->events.end(), events.begin(), events.end());
    return {};
  }

  Result<std::vector<Event>> events(std::string_view study) override {
    const auto kept = known(study);
    if (!kept) return forward_error(kept);
    return (*kept)->events;
  }

  Result<> set_state(std::string_view study, std::string_view state) override {
    const auto kept = known(study);
    if (!kept) return forward_error(kept);
    (*kept)->record.state = state;
    return {};
  }

  Result<> flush() override { return {}; }
  Result<> claim(std::string_view) override { return {}; }  // nobody else can reach it
  void release(std::string_view) override {}

  Result<std::optional<std::string>> document(std::string_view name) override {
    const auto found = documents_.find(name);
    if (found == documents_.end()) return std::nullopt;
    return found->second;
  }

  Result<> put_document(std::string_view name, std::string_view text) override {
    documents_.insert_or_assign(std::string(name), std::string(text));
    return {};
  }

 private:
  struct Kept {
    StudyRecord record;
    std::vector<Event> events;
  };

  Kept* lookup(std::string_view study) {
    const auto found =
        std::find_if(studies_.begin(), studies_.end(), [&](const Kept& kept) { return kept.record.name == study; });
    return found == studies_.end() ? nullptr : &*found;
  }

  Result<Kept*> known(std::string_view study) {
    if (auto* kept = lookup(study)) return kept;
    return fail(ErrorCode::not_found, "no study \"{}\"", study);
  }

  std::vector<Kept> studies_;  ///< in the order of creation
  std::map<std::string, std::string, std::less<>> documents_;
};

}  // namespace

std::unique_ptr<Store> make_memory_store() { return std::make_unique<MemoryStore>(); }

}  // namespace tandem::tuner
