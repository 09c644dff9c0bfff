#include <array>

#include "tuner/space/value_json.hpp"
#include "tuner/study/event.hpp"

namespace tandem::tuner {

namespace {

using nlohmann::json;

constexpr std::array<std::string_view, std::variant_size_v<Event>> kKinds{
    "suggested", "enqueued", "started",       "reported", "staged",    "tuned",
    "finished",  "failed",   "test_measured", "ended",    "progressed"};
constexpr std::array kStages{Stage::profile, Stage::match, Stage::probe, Stage::exploit};
constexpr std::array kDecisions{Decision::proceed, Decision::stop, Decision::pause};

// What a decoder meets may be damaged; it throws, decode_event catches.
struct Malformed {
  std::string message;
};

template <class T>
T unwrap(Result<T> result) {
  if (!result) throw Malformed{result.error().message()};
  return std::move(*result);
}

double number(const json& j, const char* name) { return unwrap(number_from_json(j.at(name))); }
Parameters parameters(const json& j, const char* name) { return unwrap(parameters_from_json(j.at(name))); }
Values values(const json& j) { return unwrap(numbers_from_json(j.at("values"))); }

template <class Enum, std::size_t N>
Enum named(const json& j, const char* name, const std::array<Enum, N>& known) {
  const auto text = j.at(name).get<std::string>();
  for (const Enum value : known) {
    if (to_string(value) == text) return value;
  }
  throw Malformed{fmt::format("{} = \"{}\" is not known", name, text)};
}

json body(const TrialSuggested& e) {
  json j{{"trial", e.trial}, {"params", to_json(e.params)}};
  if (!e.system.empty()) j["system"] = to_json(e.system);
  return j;
}
void read(const json& j, TrialSuggested& e) {
  e.trial = j.at("trial").get<TrialId>();
  e.params = parameters(j, "params");
  if (j.contains("system")) e.system = parameters(j, "system");
}

json body(const TrialEnqueued& e) { return {{"params", to_json(e.params)}}; }
void read(const json& j, TrialEnqueued& e) { e.params = parameters(j, "params"); }

json body(const TrialStarted& e) { return {{"trial", e.trial}, {"from_step", e.from_step}, {"worker", e.worker}}; }
void read(const json& j, TrialStarted& e) {
  e = {j.at("trial").get<TrialId>(), j.at("from_step").get<int>(), j.at("worker").get<std::string>()};
}

json body(const TrialReported& e) {
  json j{{"trial", e.trial},
         {"step", e.step},
         {"values", numbers_to_json(e.values)},
         {"seconds", number_to_json(e.seconds)},
         {"energy_joules", number_to_json(e.energy_joules)},
         {"decision", to_string(e.decision)}};
  if (!e.resumed.empty()) j["resumed"] = e.resumed;
  if (!e.pipeline_state.empty()) j["pipeline_state"] = e.pipeline_state;
  return j;
}
void read(const json& j, TrialReported& e) {
  e.trial = j.at("trial").get<TrialId>();
  e.step = j.at("step").get<int>();
  e.values = values(j);
  e.seconds = number(j, "seconds");
  e.energy_joules = number(j, "energy_joules");
  e.decision = named(j, "decision", kDecisions);
  e.resumed = j.value("resumed", std::vector<TrialId>());
  e.pipeline_state = j.value("pipeline_state", std::string());
}

json body(const TrialStaged& e) {
  json records = json::array();
  for (const auto& record : e.records) {
    records.push_back({{"stage", to_string(record.stage)},
                       {"from_step", record.from_step},
                       {"to_step", record.to_step},
                       {"seconds", number_to_json(record.seconds)},
                       {"system", to_json(record.system)}});
  }
  return {{"trial", e.trial}, {"records", std::move(records)}};
}
void read(const json& j, TrialStaged& e) {
  e.trial = j.at("trial").get<TrialId>();
  for (const auto& record : j.at("records")) {
    e.records.push_back({named(record, "stage", kStages), record.at("from_step").get<std::int64_t>(),
                         record.at("to_step").get<std::int64_t>(), number(record, "seconds"),
                         parameters(record, "system")});
  }
}

json body(const TrialTuned& e) {
  return {{"trial", e.trial},
          {"system", to_json(e.system)},
          {"step_seconds", number_to_json(e.step_seconds)},
          {"default_step_seconds", number_to_json(e.default_step_seconds)},
          {"probe_steps", e.probe_steps},
          {"total_steps", e.total_steps},
          {"excess_seconds", number_to_json(e.excess_seconds)},
          {"hit", e.hit}};
}
void read(const json& j, TrialTuned& e) {
  e.trial = j.at("trial").get<TrialId>();
  e.system = parameters(j, "system");
  e.step_seconds = number(j, "step_seconds");
  e.default_step_seconds = number(j, "default_step_seconds");
  e.probe_steps = j.at("probe_steps").get<std::int64_t>();
  e.total_steps = j.at("total_steps").get<std::int64_t>();
  e.excess_seconds = number(j, "excess_seconds");
  e.hit = j.at("hit").get<bool>();
}

json body(const TrialFinished& e) { return {{"trial", e.trial}, {"values", numbers_to_json(e.values)}}; }
void read(const json& j, TrialFinished& e) { e = {j.at("trial").get<TrialId>(), values(j)}; }

json body(const TrialFailed& e) { return {{"trial", e.trial}, {"cause", e.cause}, {"error", e.error}}; }
void read(const json& j, TrialFailed& e) {
  e = {j.at("trial").get<TrialId>(), j.at("cause").get<std::string>(), j.at("error").get<std::string>()};
}

json body(const TestMeasured& e) { return {{"trial", e.trial}, {"values", numbers_to_json(e.values)}}; }
void read(const json& j, TestMeasured& e) { e = {j.at("trial").get<TrialId>(), values(j)}; }

json body(const StudyEnded& e) { return {{"state", e.state}, {"tuning_seconds", number_to_json(e.tuning_seconds)}}; }
void read(const json& j, StudyEnded& e) { e = {j.at("state").get<std::string>(), number(j, "tuning_seconds")}; }

json body(const StudyProgressed& e) { return {{"tuning_seconds", number_to_json(e.tuning_seconds)}}; }
void read(const json& j, StudyProgressed& e) { e.tuning_seconds = number(j, "tuning_seconds"); }

/// Reads into the alternative number `I` or a later one, by its kind.
template <std::size_t I = 0>
Event decode_kind(const json& j, std::string_view kind) {
  if constexpr (I < std::variant_size_v<Event>) {
    if (kKinds[I] != kind) return decode_kind<I + 1>(j, kind);
    std::variant_alternative_t<I, Event> event;
    read(j, event);
    return event;
  } else {
    throw Malformed{fmt::format("kind \"{}\" is not known", kind)};
  }
}

}  // namespace

std::string_view kind_of(const Event& event) noexcept { return kKinds[event.index()]; }

std::string encode_event(const Event& event) {
  json j = std::visit([](const auto& e) { return body(e); }, event);
  j["kind"] = kind_of(event);
  return dump_json(j);
}

Result<Event> decode_event(std::string_view text) {
  try {
    const json j = json::parse(text);
    return decode_kind(j, j.at("kind").get<std::string>());
  } catch (const json::exception& e) {
    return fail(ErrorCode::data_loss, "not an event: {}", e.what());
  } catch (const Malformed& e) {
    return fail(ErrorCode::data_loss, "not an event: {}", e.message);
  }
}

}  // namespace tandem::tuner
