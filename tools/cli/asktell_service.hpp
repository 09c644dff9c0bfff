/// AskTellService: a study as a service, one JSON request and one JSON answer at a time (CLI.md, "asktell").
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "runtime/base/clock.hpp"
#include "runtime/base/result.hpp"
#include "tuner/store/store.hpp"
#include "tuner/study/study.hpp"

namespace tandem::tools {

class AskTellService {
 public:
  /// `study`, `store` and `clock` outlive the service; the store's claim is the caller's.
  AskTellService(tuner::Study& study, tuner::Store& store, const Clock& clock);

  /// Takes over the trials asked before a restart: they are open, and are not handed out again.
  Result<> adopt_open_trials();

  /// The answer to one line; a bad request is answered {"error": …}. What changed is durable by then.
  /// Error: it could not be made durable, so nothing may be answered any more.
  [[nodiscard]] Result<nlohmann::json> answer(std::string_view line);

  /// The client is gone: a study that is done is recorded as finished, any other can be resumed.
  Result<> close();

 private:
  using Json = nlohmann::json;

  Result<Json> dispatch(std::string_view line);
  Result<Json> ask(const Json& body);
  Result<Json> tell(const Json& body);
  Result<Json> finish(const Json& body);
  Result<Json> fail_trial(const Json& body);
  Result<Json> enqueue(const Json& body);
  Result<Json> best(const Json& body);
  Result<Json> open(const Json& body);

  Result<> make_durable();
  [[nodiscard]] double seconds_spent() const;

  tuner::Study& study_;
  tuner::Store& store_;
  const Clock& clock_;
  MonotonicTime started_at_;
  double seconds_before_;  ///< spent by the runs that this one resumes
  bool broken_ = false;    ///< events were lost on their way to the store
};

}  // namespace tandem::tools
