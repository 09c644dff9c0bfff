#include "tools/cli/asktell_service.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "tools/cli/documents.hpp"
#include "tools/limits.hpp"
#include "tuner/space/value_json.hpp"
#include "tuner/space/value_text.hpp"

namespace tandem::tools {
namespace {

using nlohmann::json;

constexpr std::string_view kWorker = "asktell";

/// Arrays and objects within one another, at most; strings do not count.
std::size_t nesting_of(std::string_view line) {
  std::size_t depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char letter = line[at];
    if (in_string) {
      if (letter == '\\') {
        ++at;
      } else if (letter == '"') {
        in_string = false;
      }
    } else if (letter == '"') {
      in_string = true;
    } else if (letter == '[' || letter == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((letter == ']' || letter == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

Result<json> parse_line(std::string_view line) {
  if (nesting_of(line) > limits::kAskTellNesting) {
    return fail(ErrorCode::invalid_argument, "arrays and objects may be nested {} deep at most",
                limits::kAskTellNesting);
  }
  json request = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (request.is_discarded()) return fail(ErrorCode::invalid_argument, "not a JSON object on one line");
  if (!request.is_object() || request.size() != 1) {
    return fail(ErrorCode::invalid_argument, "a request is an object with one key, e.g. {{\"ask\":1}}");
  }
  return request;
}

/// Refuses a body that is no object, or has a key beside `allowed`.
Result<> check_body(const json& body, std::initializer_list<std::string_view> allowed) {
  if (!body.is_object()) return fail(ErrorCode::invalid_argument, "its value must be an object");
  for (const auto& [key, value] : body.items()) {
    if (std::find(allowed.begin(), allowed.end(), key) != allowed.end()) continue;
    return fail(ErrorCode::invalid_argument, "unknown key '{}'; allowed: {}", key,
                allowed.size() == 0 ? "none" : fmt::format("{}", fmt::join(allowed, ", ")));
  }
  return {};
}

Result<std::int64_t> integer_of(const json& body, const char* key, std::int64_t low, std::int64_t high) {
  const auto found = body.find(key);
  if (found == body.end()) return fail(ErrorCode::invalid_argument, "'{}' is missing", key);
  const bool fits = found->is_number_integer() &&
                    (!found->is_number_unsigned() || found->get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
  if (!fits || found->get<std::int64_t>() < low || found->get<std::int64_t>() > high) {
    return fail(ErrorCode::invalid_argument, "'{}' must be an integer from {} to {}", key, low, high);
  }
  return found->get<std::int64_t>();
}

/// Values with every objective among them: what is merely misspelt must not cost the client its trial.
Result<tuner::Values> values_of(const json& body, const tuner::StudySpec& spec) {
  const auto found = body.find("values");
  if (found == body.end() || !found->is_object()) {
    return fail(ErrorCode::invalid_argument, "'values' must be an object of numbers (or \"nan\", \"inf\", \"-inf\")");
  }
  auto values = tuner::numbers_from_json(*found);
  if (!values) return values;
  for (const auto& objective : spec.objectives) {
    if (!values->contains(objective.name)) {
      return fail(ErrorCode::invalid_argument, "'values' has no \"{}\", an objective of the study", objective.name);
    }
  }
  return values;
}

}  // namespace

AskTellService::AskTellService(tuner::Study& study, tuner::Store& store, const Clock& clock)
    : study_(study), store_(store), clock_(clock), started_at_(clock.now()), seconds_before_(study.tuning_seconds()) {}

Result<> AskTellService::adopt_open_trials() {
  for (const auto& trial : study_.trials()) {
    if (trial.state != tuner::TrialState::waiting) continue;
    if (auto started = study_.started(trial.id, std::string(kWorker)); !started) return started;
  }
  return make_durable();
}

Result<json> AskTellService::answer(std::string_view line) {
  auto answered = dispatch(line);
  if (const auto durable = make_durable(); !durable) return forward_error(durable);
  if (!answered) return json{{"error", answered.error().message()}};
  return answered;
}

Result<json> AskTellService::dispatch(std::string_view line) {
  struct Command {
    std::string_view name;
    Result<json> (AskTellService::*run)(const json&);
  };
  static constexpr std::array<Command, 7> kCommands = {{{"ask", &AskTellService::ask},
                                                        {"tell", &AskTellService::tell},
                                                        {"finish", &AskTellService::finish},
                                                        {"fail", &AskTellService::fail_trial},
                                                        {"enqueue", &AskTellService::enqueue},
                                                        {"best", &AskTellService::best},
                                                        {"open", &AskTellService::open}}};
  const auto request = parse_line(line);
  if (!request) return forward_error(request);
  const std::string& name = request->begin().key();
  std::vector<std::string_view> known;
  for (const Command& command : kCommands) {
    if (command.name == name) {
      auto answered = (this->*command.run)(request->begin().value());
      if (!answered) return forward_error(answered, name);
      return answered;
    }
    known.push_back(command.name);
  }
  const auto nearest = tuner::nearest_name(name, known);
  return fail(ErrorCode::invalid_argument, "unknown request '{}'; {}", name,
              nearest.empty() ? fmt::format("allowed: {}", fmt::join(known, ", "))
                              : fmt::format("did you mean '{}'?", nearest));
}

Result<json> AskTellService::ask(const json& body) {
  const auto wanted = integer_of({{"ask", body}}, "ask", 1, limits::kTrialsPerAsk);
  if (!wanted) return forward_error(wanted);
  json trials = json::array();
  while (static_cast<std::int64_t>(trials.size()) < *wanted) {
    auto assignment = study_.next();
    if (!assignment) return forward_error(assignment);
    if (!assignment->has_value()) break;
    const tuner::Assignment& given = **assignment;
    if (const auto started = study_.started(given.trial, std::string(kWorker)); !started) return forward_error(started);
    trials.push_back({{"trial", given.trial},
                      {"params", tuner::to_json(given.params)},
                      {"system", tuner::to_json(given.system)},
                      {"from_step", given.from_step}});
  }
  const bool fewer = static_cast<std::int64_t>(trials.size()) < *wanted;
  json answer = {{"trials", std::move(trials)}};
  if (fewer && study_.exhausted()) answer["exhausted"] = true;
  if (fewer && study_.done()) answer["done"] = true;
  return answer;
}

Result<json> AskTellService::tell(const json& body) {
  if (const auto checked = check_body(body, {"trial", "step", "values", "seconds"}); !checked) {
    return forward_error(checked);
  }
  const auto trial = integer_of(body, "trial", 0, INT64_MAX);
  if (!trial) return forward_error(trial);
  const auto step = integer_of(body, "step", 1, study_.spec().trial.epochs);
  if (!step) return forward_error(step);
  auto values = values_of(body, study_.spec());
  if (!values) return forward_error(values);
  double seconds = 0;
  if (const auto given = body.find("seconds"); given != body.end()) {
    const auto number = tuner::number_from_json(*given);
    if (!number || !(*number >= 0)) return fail(ErrorCode::invalid_argument, "'seconds' must be a number, at least 0");
    seconds = *number;
  }
  const auto reported = study_.report(*trial, static_cast<int>(*step), std::move(*values), seconds);
  if (!reported) return forward_error(reported);
  // Promoted trials go on at once: the client is told so here, and `ask` hands out others.
  for (const tuner::TrialId resumed : reported->resumed) {
    if (const auto started = study_.started(resumed, std::string(kWorker)); !started) return forward_error(started);
  }
  return json{{"trial", *trial}, {"decision", tuner::to_string(reported->decision)}, {"resume", reported->resumed}};
}

Result<json> AskTellService::finish(const json& body) {
  if (const auto checked = check_body(body, {"trial", "values"}); !checked) return forward_error(checked);
  const auto trial = integer_of(body, "trial", 0, INT64_MAX);
  if (!trial) return forward_error(trial);
  Result<tuner::Values> values;  // none: the last report's count
  const tuner::Trial* known = study_.find(*trial);
  if (known != nullptr && known->reports.empty() && !body.contains("values")) {
    return fail(ErrorCode::invalid_argument, "'values' is missing, and trial {} has told nothing", *trial);
  }
  if (body.contains("values")) values = values_of(body, study_.spec());
  if (!values) return forward_error(values);
  const auto finished = study_.finish(*trial, std::move(*values));
  if (!finished) return forward_error(finished);
  return json{{"ok", true}, {"trial", *trial}};
}

Result<json> AskTellService::fail_trial(const json& body) {
  if (const auto checked = check_body(body, {"trial", "error"}); !checked) return forward_error(checked);
  const auto trial = integer_of(body, "trial", 0, INT64_MAX);
  if (!trial) return forward_error(trial);
  const auto error = body.find("error");
  if (error == body.end() || !error->is_string()) return fail(ErrorCode::invalid_argument, "'error' must be a string");
  const auto failed = study_.fail(*trial, "failed", error->get<std::string>());
  if (!failed) return forward_error(failed);
  return json{{"ok", true}, {"trial", *trial}};
}

Result<json> AskTellService::enqueue(const json& body) {
  if (const auto checked = check_body(body, {"params"}); !checked) return forward_error(checked);
  const auto given = body.find("params");
  if (given == body.end()) return fail(ErrorCode::invalid_argument, "'params' is missing");
  auto params = tuner::parameters_from_json(*given);
  if (!params) return forward_error(params);
  const auto enqueued = study_.enqueue(std::move(*params));
  if (!enqueued) return forward_error(enqueued);
  return json{{"ok", true}};
}

Result<json> AskTellService::best(const json& body) {
  if (const auto checked = check_body(body, {}); !checked) return forward_error(checked);
  const auto best = study_.best();
  json answer = {{"ok", true}, {"best", nullptr}};
  if (best) answer["best"] = best_document(study_, *best);
  return answer;
}

Result<json> AskTellService::open(const json& body) {
  if (const auto checked = check_body(body, {}); !checked) return forward_error(checked);
  json trials = json::array();
  for (const auto& trial : study_.trials()) {
    const bool ended = trial.state == tuner::TrialState::completed || trial.state == tuner::TrialState::stopped ||
                       trial.state == tuner::TrialState::failed;
    if (ended) continue;
    trials.push_back({{"trial", trial.id},
                      {"state", state_name(trial)},
                      {"params", tuner::to_json(trial.params)},
                      {"system", tuner::to_json(trial.system)},
                      {"step", trial.reports.empty() ? 0 : trial.reports.back().step}});
  }
  return json{{"ok", true}, {"trials", std::move(trials)}};
}

Result<> AskTellService::close() {
  if (broken_) return {};  // what the store has is a sound beginning of the study; nothing may follow the gap
  if (study_.state() != "finished") {
    const bool done = study_.done();
    if (auto noted = done ? study_.end("finished", seconds_spent()) : study_.progressed(seconds_spent()); !noted) {
      return noted;
    }
    if (auto durable = make_durable(); !durable) return durable;
    if (done) {
      if (auto set = store_.set_state(study_.spec().name, "finished"); !set) return set;
    }
  }
  return store_.flush();
}

Result<> AskTellService::make_durable() {
  const auto events = study_.take_events();
  if (events.empty()) return {};
  auto kept = store_.append(study_.spec().name, events);
  if (!kept) broken_ = true;
  return kept;
}

double AskTellService::seconds_spent() const { return seconds_before_ + to_seconds(clock_.now() - started_at_); }

}  // namespace tandem::tools
