#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <limits>

#include "tests/tuner/study/make_spec.hpp"
#include "tuner/space/value_text.hpp"

using namespace tandem;
using namespace tandem::tuner;

namespace {

/// All that a study says of itself, except who waits and who runs: a run that ended leaves nothing running.
std::string describe(const Study& study) {
  std::string text =
      fmt::format("exhausted {} state {} seconds {}\n", study.exhausted(), study.state(), study.tuning_seconds());
  for (const auto& trial : study.trials()) {
    const bool open = trial.state == TrialState::running || trial.state == TrialState::waiting;
    text += fmt::format("{} {} {} {} {} {} {}", trial.id, open ? "open" : to_string(trial.state),
                        canonical_text(trial.params), canonical_text(trial.system), trial.error, trial.attempts,
                        trial.pipeline_state);
    for (const auto& report : trial.reports) {
      text += fmt::format(" [{} {} {} {}]", report.step, report.values.begin()->second, report.seconds,
                          to_string(report.decision));
    }
    text += fmt::format(" stages {} tuned {}\n", trial.stages.size(), trial.tuned.has_value());
  }
  if (const auto best = study.best()) text += fmt::format("best {} at {}", best->trial, best->step);
  return text;
}

StudySpec arbitrary_spec() {
  StudySpec spec = *rc::gen::arbitrary<bool>() ? make_spec() : make_asha_spec(*rc::gen::arbitrary<bool>());
  spec.max_trials = *rc::gen::inRange(1, 15);
  spec.trial.epochs = *rc::gen::inRange(1, 12);
  if (*rc::gen::arbitrary<bool>()) {
    spec.space = *Space::create({{"x", IntDomain{0, *rc::gen::inRange(1, 8), 1, false}, {}}});
    spec.search.algorithm = *rc::gen::element<std::string>("random", "grid");
  }
  if (*rc::gen::arbitrary<bool>()) {
    spec.system.mode = SystemMode::search;
    spec.system.values["cores"] = {Value(std::int64_t{1}), Value(std::int64_t{2})};
  }
  return spec;
}

/// One random call, legal or not; what is refused leaves no event.
void act(Study& study) {
  const auto trial = static_cast<TrialId>(*rc::gen::inRange<std::size_t>(0, study.trials().size() + 1));
  const Trial* known = study.find(trial);
  const int last = known == nullptr || known->reports.empty() ? 0 : known->reports.back().step;
  const double value =
      *rc::gen::inRange(0, 10) == 0 ? std::numeric_limits<double>::quiet_NaN() : *rc::gen::inRange(0, 6) * 0.1;
  switch (*rc::gen::inRange(0, 14)) {
    case 0:
    case 1:
    case 2:
      if (const auto assignment = study.next(); assignment && *assignment && *rc::gen::inRange(0, 5) > 0) {
        RC_ASSERT(study.started((*assignment)->trial, "worker").has_value());
      }
      break;
    case 3:
      static_cast<void>(study.interrupted(trial));
      break;
    case 4:
      static_cast<void>(study.started(trial, "late"));
      break;
    case 5:
      static_cast<void>(study.enqueue({{"x", static_cast<std::int64_t>(*rc::gen::inRange(0, 9))}}));
      break;
    case 6:
      static_cast<void>(study.fail(trial, "killed", "by the test"));
      break;
    case 7:
      static_cast<void>(study.finish(trial, *rc::gen::arbitrary<bool>() ? accuracy(value) : Values()));
      break;
    case 8:
      static_cast<void>(study.staged(trial, {{Stage::probe, 0, 5, 0.1, {}}}));
      break;
    case 9:
      static_cast<void>(study.report(trial, *rc::gen::inRange(0, 13), {{"loss", 1}}, 1));
      break;
    default:
      static_cast<void>(study.report(trial, last + *rc::gen::inRange(0, 3), accuracy(value), 0.5, 1, "state"));
  }
}

}  // namespace

TEST_CASE("property: replaying the events of any interleaving gives the same study, which goes on the same way") {
  CHECK(rc::check([] {
    const StudySpec spec = arbitrary_spec();
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    Study study = *Study::create(spec, seed);
    std::vector<Event> events;
    const int actions = *rc::gen::inRange(0, 80);
    for (int i = 0; i < actions; ++i) {
      act(study);
      for (auto& event : study.take_events()) events.push_back(*decode_event(encode_event(event)));
    }
    auto replayed = Study::replay(spec, seed, events);
    RC_ASSERT(replayed.has_value());
    RC_ASSERT(describe(*replayed) == describe(study));

    // From here both are driven to their end by one rule, and end the same.
    for (const auto& trial : study.trials()) static_cast<void>(study.interrupted(trial.id));
    std::string ends[2];
    Study* const both[] = {&study, &*replayed};
    for (int which = 0; which < 2; ++which) {
      for (int turn = 0; turn < 200; ++turn) {
        std::vector<TrialId> open;
        while (const auto assignment = *both[which]->next()) open.push_back(assignment->trial);
        if (open.empty()) break;
        std::sort(open.begin(), open.end());
        for (const TrialId id : open) {
          const auto& reports = both[which]->find(id)->reports;
          const int step = (reports.empty() ? 0 : reports.back().step) + 1;
          RC_ASSERT(both[which]->report(id, step, accuracy(static_cast<double>(id % 5)), 1).has_value());
          if (both[which]->find(id)->state == TrialState::running) static_cast<void>(both[which]->interrupted(id));
        }
      }
      RC_ASSERT(both[which]->done());
      ends[which] = describe(*both[which]);
    }
    RC_ASSERT(ends[0] == ends[1]);
  }));
}

TEST_CASE("after a replay what ran waits, by id, to go on from its last report") {
  Study study = *Study::create(make_spec(5), 1);
  for (int i = 0; i < 3; ++i) start_trial(study);
  static_cast<void>(*study.next());  // handed out, never started
  tell(study, 2, 1, 0.5);
  Study replayed = *Study::replay(make_spec(5), 1, study.take_events());
  for (const TrialId expected : {0, 1, 2, 3, 4}) {
    const auto assignment = **replayed.next();
    CHECK(assignment.trial == expected);
    CHECK(assignment.from_step == (expected == 2 ? 1 : 0));
  }
  CHECK(replayed.take_events().size() == 1);  // trial 4 is new
}

TEST_CASE("events that contradict each other are data loss, named by number and kind") {
  Study study = *Study::create(make_asha_spec(false), 1);
  for (int i = 0; i < 2; ++i) start_trial(study);
  tell(study, 0, 1, 0.5);
  tell(study, 1, 1, 0.4);
  const auto events = study.take_events();
  const auto refusal = [&](std::vector<Event> altered) {
    const auto replayed = Study::replay(make_asha_spec(false), 1, altered);
    REQUIRE(!replayed);
    CHECK(replayed.error().code() == ErrorCode::data_loss);
    return replayed.error().message();
  };
  const auto altered = [&](std::size_t index, Event event) {
    auto copy = events;
    copy[index] = std::move(event);
    return copy;
  };
  TrialReported decided = std::get<TrialReported>(events[5]);
  REQUIRE(decided.decision == Decision::stop);
  decided.decision = Decision::proceed;
  CHECK(refusal(altered(5, decided)) ==
        "event 5 (reported): step 1 of trial 1 was decided \"continue\" and is now decided \"stop\"");
  decided.decision = Decision::stop;
  decided.resumed = {0};
  CHECK(refusal(altered(5, decided)).find("promoted [0] and now promotes []") != std::string::npos);
  decided.trial = 9;
  CHECK(refusal(altered(5, decided)).find("event 5 (reported): no trial 9") == 0);
  CHECK(refusal(altered(5, events[4])).find("step 1 of trial 0 is recorded twice") != std::string::npos);
  CHECK(refusal(altered(0, TrialSuggested{4, {{"x", std::int64_t{1}}}, {}})).find("event 0 (suggested)") == 0);
  CHECK(refusal(altered(0, TrialSuggested{0, {{"y", std::int64_t{1}}}, {}})).find("y is not in the space") !=
        std::string::npos);
  CHECK(refusal(altered(1, TrialStarted{0, 3, "w"})).find("started from step 3") != std::string::npos);
  auto ended = events;
  ended.push_back(TrialFailed{1, "killed", ""});
  CHECK(refusal(ended).find("event 6 (failed): trial 1 cannot fail: it is stopped") == 0);
}

TEST_CASE("ten thousand trials replay, and asking stays cheap in steps") {
  const StudySpec spec = make_asha_spec(true, 10'000, 9);
  Study study = *Study::create(spec, 1);
  std::vector<Event> events;
  while (const auto assignment = *study.next()) {
    for (int step = assignment->from_step + 1;; ++step) {
      if (tell(study, assignment->trial, step, static_cast<double>(assignment->trial % 101)) != Decision::proceed)
        break;
    }
    for (auto& event : study.take_events()) events.push_back(std::move(event));
  }
  CHECK(study.trials().size() == 10'000);
  CHECK(describe(*Study::replay(spec, 1, events)) == describe(study));
}
