#include <set>

#include "tuner/pipetune/ground_truth.hpp"
#include "tuner/pipetune/json_reader.hpp"
#include "tuner/pipetune/limits.hpp"
#include "tuner/space/value_json.hpp"

namespace tandem::tuner {

namespace {

using nlohmann::json;

constexpr int kVersion = 1;

json to_json_of(const GroundTruthEntry& entry) {
  return {{"number", entry.number},
          {"profile",
           {{"version", entry.profile.version}, {"names", entry.profile.names}, {"values", entry.profile.values}}},
          {"key",
           {{"batch_size", entry.key.batch_size},
            {"lease_cores", entry.key.lease_cores},
            {"objective", entry.key.objective},
            {"host_class", entry.key.host_class}}},
          {"best", to_json(entry.best)},
          {"best_step_seconds", entry.best_step_seconds},
          {"default_step_seconds", entry.default_step_seconds},
          {"contradictions", entry.contradictions}};
}

ProfileVector read_profile(const JsonReader::Node& node) {
  ProfileVector profile;
  profile.version = static_cast<int>(node["version"].integer());
  for (const auto& name : node["names"].elements(limits::kMaxProfileFeatures)) profile.names.push_back(name.text());
  profile.values = node["values"].numbers(limits::kMaxProfileFeatures);
  if (const std::string lacking = profile_fault(profile); !lacking.empty()) node.refuse(lacking);
  return profile;
}

GroundTruthKey read_key(const JsonReader::Node& node) {
  return {node["batch_size"].integer(), node["lease_cores"].integer(), node["objective"].text(),
          node["host_class"].text()};
}

GroundTruthEntry read_entry(const JsonReader::Node& node) {
  GroundTruthEntry entry;
  entry.number = node["number"].integer();
  entry.profile = read_profile(node["profile"]);
  entry.key = read_key(node["key"]);
  entry.best = node["best"].parameters();
  entry.best_step_seconds = node["best_step_seconds"].number();
  entry.default_step_seconds = node["default_step_seconds"].number();
  entry.contradictions = node["contradictions"].integer();
  if (entry.best_step_seconds < 0) node["best_step_seconds"].refuse("at least 0");
  if (entry.default_step_seconds < 0) node["default_step_seconds"].refuse("at least 0");
  if (entry.contradictions < 0) node["contradictions"].refuse("at least 0");
  return entry;
}

}  // namespace

std::string GroundTruth::to_json() const {
  json entries = json::array();
  for (const GroundTruthEntry& entry : entries_) entries.push_back(to_json_of(entry));
  return dump_json({{"version", kVersion}, {"next_number", next_number_}, {"entries", std::move(entries)}});
}

Result<GroundTruth> GroundTruth::from_json(std::string_view text) {
  JsonReader reader("ground truth", text);
  const auto root = reader.root();
  if (root["version"].integer() != kVersion) root["version"].refuse(fmt::format("{}", kVersion));
  GroundTruth ground_truth;
  ground_truth.next_number_ = root["next_number"].integer();
  std::set<std::int64_t> numbers;
  for (const auto& node : root["entries"].elements(limits::kMaxGroundTruthEntries)) {
    ground_truth.entries_.push_back(read_entry(node));
    const std::int64_t number = ground_truth.entries_.back().number;
    if (number < 0 || number >= ground_truth.next_number_ || !numbers.insert(number).second) {
      node["number"].refuse(fmt::format("a number of its own below {}", ground_truth.next_number_));
    }
  }
  if (auto outcome = reader.outcome(); !outcome) return forward_error(outcome);
  ground_truth.regroup();
  return ground_truth;
}

}  // namespace tandem::tuner
