#include <algorithm>
#include <limits>

#include "tuner/pipetune/json_reader.hpp"
#include "tuner/pipetune/limits.hpp"
#include "tuner/pipetune/stage_machine.hpp"
#include "tuner/space/value_json.hpp"

namespace tandem::tuner {

namespace {

using nlohmann::json;

constexpr int kVersion = 1;

json to_json_of(const Entrant& entrant) {
  return {{"system", to_json(entrant.system)},
          {"step_seconds", entrant.step_seconds},
          {"joules_per_step", entrant.joules_per_step},
          {"change_seconds", entrant.change_seconds},
          {"prior_seconds", entrant.prior_seconds},
          {"bad_looks", entrant.bad_looks},
          {"looked", entrant.looked},
          {"dropped", entrant.dropped},
          {"beaten", entrant.beaten},
          {"apply_error", entrant.apply_error}};
}

int small_integer(const JsonReader::Node& node) {
  const std::int64_t value = node.integer();
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
    node.refuse("a small integer");
  return static_cast<int>(value);
}

std::vector<double> positive_numbers(const JsonReader::Node& node) {
  std::vector<double> numbers = node.numbers(limits::kMaxStepSamples);
  for (const double number : numbers) {
    if (!(number > 0)) node.refuse("positive numbers");
  }
  return numbers;
}

Entrant read_entrant(const JsonReader::Node& node) {
  Entrant entrant;
  entrant.system = node["system"].parameters();
  entrant.step_seconds = positive_numbers(node["step_seconds"]);
  entrant.joules_per_step = positive_numbers(node["joules_per_step"]);
  entrant.change_seconds = node["change_seconds"].number();
  entrant.prior_seconds = node["prior_seconds"].number();
  entrant.bad_looks = small_integer(node["bad_looks"]);
  entrant.looked = node["looked"].boolean();
  entrant.dropped = node["dropped"].boolean();
  entrant.beaten = node["beaten"].boolean();
  entrant.apply_error = node["apply_error"].text();
  return entrant;
}

Stage read_stage(const JsonReader::Node& node) {
  const std::string name = node.text();
  for (const auto stage : {Stage::profile, Stage::match, Stage::probe, Stage::exploit}) {
    if (name == to_string(stage)) return stage;
  }
  node.refuse("profile, match, probe or exploit");
  return Stage::profile;
}

json to_json_of(const std::optional<GroundTruthHit>& hit) {
  if (!hit) return nullptr;
  return {{"entry", hit->entry},
          {"best", to_json(hit->best)},
          {"expected_step_seconds", hit->expected_step_seconds},
          {"default_step_seconds", hit->default_step_seconds}};
}

std::optional<GroundTruthHit> read_hit(const JsonReader::Node& node) {
  if (node.is_null()) return std::nullopt;
  return GroundTruthHit{node["entry"].integer(), node["best"].parameters(), node["expected_step_seconds"].number(),
                        node["default_step_seconds"].number()};
}

json to_json_of(const WindowRequest& request) {
  return {{"stage", to_string(request.stage)},
          {"system", to_json(request.system)},
          {"steps", request.steps},
          {"warmup_steps", request.warmup_steps},
          {"abort_step_seconds", request.abort_step_seconds}};
}

WindowRequest read_request(const JsonReader::Node& node) {
  const WindowRequest request = {read_stage(node["stage"]), node["system"].parameters(), small_integer(node["steps"]),
                                 small_integer(node["warmup_steps"]), node["abort_step_seconds"].number()};
  if (request.steps < 1) node["steps"].refuse("at least 1");
  if (request.warmup_steps < 0) node["warmup_steps"].refuse("at least 0");
  return request;
}

}  // namespace

/// Names every member once for writing and once for reading.
struct StageMachineJson {
  static json write(const StageMachine& machine) {
    json entrants = json::array();
    for (const Entrant& entrant : machine.race_.entrants()) entrants.push_back(to_json_of(entrant));
    return {{"version", kVersion},
            {"planned_reference", to_json(machine.settings_.reference)},
            {"minimize_energy", machine.settings_.minimize_energy},
            {"entrants", std::move(entrants)},
            {"yardstick_seconds", machine.race_.yardstick_seconds()},
            {"stage", to_string(machine.stage_)},
            {"request", to_json_of(machine.request_)},
            {"done_steps", machine.done_steps_},
            {"training_seconds", machine.training_seconds_},
            {"active", to_json(machine.active_)},
            {"active_steps", machine.active_steps_},
            {"empty_windows", machine.empty_windows_},
            {"reference", to_json(machine.reference_)},
            {"profile_seconds", machine.profile_seconds_},
            {"awaiting_match", machine.awaiting_match_},
            {"hit", to_json_of(machine.hit_)},
            {"default_step_seconds", machine.default_step_seconds_},
            {"probe_steps", machine.probe_steps_},
            {"open_steps", machine.open_steps_},
            {"open_seconds", machine.open_seconds_},
            {"settled_excess_seconds", machine.settled_excess_seconds_},
            {"reprobes", machine.reprobes_},
            {"finding", machine.finding_},
            {"contradiction", machine.contradiction_ ? json(*machine.contradiction_) : json(nullptr)},
            {"chosen", to_json(machine.chosen_)},
            {"expected_step_seconds", machine.expected_step_seconds_},
            {"calibrating", machine.calibrating_},
            {"verifications", machine.verifications_},
            {"departures", machine.departures_},
            {"disturbed", machine.disturbed_}};
  }

  /// What holds under any candidates.
  static void read_accounts(const JsonReader::Node& root, StageMachine& machine) {
    machine.done_steps_ = root["done_steps"].integer();
    machine.training_seconds_ = root["training_seconds"].number();
    machine.probe_steps_ = root["probe_steps"].integer();
    machine.settled_excess_seconds_ = root["settled_excess_seconds"].number();
    machine.open_steps_ = root["open_steps"].integer();
    machine.open_seconds_ = root["open_seconds"].number();
  }

  static void read(const JsonReader::Node& root, std::vector<Entrant> entrants, StageMachine& machine) {
    machine.race_ = Race(std::move(entrants), machine.settings_.minimize_energy, root["yardstick_seconds"].number());
    machine.stage_ = read_stage(root["stage"]);
    machine.request_ = read_request(root["request"]);
    machine.active_ = root["active"].parameters();
    machine.active_steps_ = root["active_steps"].integer();
    machine.empty_windows_ = small_integer(root["empty_windows"]);
    machine.reference_ = root["reference"].parameters();
    machine.profile_seconds_ = positive_numbers(root["profile_seconds"]);
    machine.awaiting_match_ = root["awaiting_match"].boolean();
    machine.hit_ = read_hit(root["hit"]);
    machine.default_step_seconds_ = root["default_step_seconds"].number();
    machine.reprobes_ = small_integer(root["reprobes"]);
    machine.finding_ = root["finding"].boolean();
    const auto contradiction = root["contradiction"];
    machine.contradiction_.reset();
    if (!contradiction.is_null()) machine.contradiction_ = contradiction.integer();
    machine.chosen_ = root["chosen"].parameters();
    machine.expected_step_seconds_ = root["expected_step_seconds"].number();
    machine.calibrating_ = root["calibrating"].boolean();
    machine.verifications_ = small_integer(root["verifications"]);
    machine.departures_ = small_integer(root["departures"]);
    machine.disturbed_ = root["disturbed"].boolean();
  }

  static bool same_conditions(const JsonReader::Node& root, const std::vector<Entrant>& entrants,
                              const StageSettings& settings) {
    if (entrants.size() != settings.candidates.size()) return false;
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      if (entrants[i].system != settings.candidates[i]) return false;
    }
    return root["planned_reference"].parameters() == settings.reference &&
           root["minimize_energy"].boolean() == settings.minimize_energy;
  }
};

std::string StageMachine::save() const { return dump_json(StageMachineJson::write(*this)); }

Result<StageMachine> StageMachine::restore(StageSettings settings, std::string_view saved) {
  JsonReader reader("pipeline state", saved);
  const auto root = reader.root();
  if (root["version"].integer() != kVersion) root["version"].refuse(fmt::format("{}", kVersion));
  std::vector<Entrant> entrants;
  for (const auto& node : root["entrants"].elements(limits::kMaxCandidates)) entrants.push_back(read_entrant(node));

  StageMachine machine(std::move(settings));
  StageMachineJson::read_accounts(root, machine);
  if (StageMachineJson::same_conditions(root, entrants, machine.settings_)) {
    StageMachineJson::read(root, std::move(entrants), machine);
  } else {
    // The accounts are closed at what the trial believed best; what was measured says nothing here.
    const double expected = root["expected_step_seconds"].number();
    if (expected > 0) {
      machine.settled_excess_seconds_ +=
          std::max(machine.open_seconds_ - expected * static_cast<double>(machine.open_steps_), 0.0);
    }
    machine.open_seconds_ = 0;
    machine.open_steps_ = 0;
    machine.plan();
  }
  if (auto outcome = reader.outcome(); !outcome) return forward_error(outcome);
  return machine;
}

}  // namespace tandem::tuner
