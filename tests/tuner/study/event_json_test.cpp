#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tuner/study/event.hpp"

using namespace tandem;
using namespace tandem::tuner;

namespace {

std::vector<Event> one_of_each() {
  const double inf = std::numeric_limits<double>::infinity();
  TrialReported reported{3,
                         2,
                         {{"accuracy", 0.1 + 0.2}, {"loss", inf}, {"low", -inf}},
                         1.0 / 3,
                         5e-324,
                         Decision::pause,
                         {1, 2},
                         R"({"stage":"probe"})"};
  TrialTuned tuned{3,   {{"cores", std::int64_t{2}}, {"allocator", std::string("retain")}}, 0.001, 0.002, 40, 900, 0.5,
                   true};
  return {
      TrialSuggested{0, {{"x", 1.0}, {"flag", true}, {"name", std::string("a\"b\n")}}, {{"cores", std::int64_t{1}}}},
      TrialEnqueued{{{"x", std::int64_t{4}}}},
      TrialStarted{3, 5, "worker-1"},
      reported,
      TrialStaged{3, {{Stage::profile, 0, 10, 0.25, {}}, {Stage::exploit, 10, 99, 2, {{"cores", std::int64_t{1}}}}}},
      tuned,
      TrialFinished{3, {{"accuracy", 1e300}}},
      TrialFailed{4, "out_of_memory", "killed by the kernel"},
      TestMeasured{3, {{"test_accuracy", 0.99}}},
      StudyEnded{"finished", 12.5},
      StudyProgressed{3.25}};
}

}  // namespace

TEST_CASE("every kind of event survives JSON") {
  const auto events = one_of_each();
  REQUIRE(events.size() == std::variant_size_v<Event>);
  for (std::size_t i = 0; i < events.size(); ++i) {
    CAPTURE(kind_of(events[i]));
    CHECK(events[i].index() == i);
    const auto back = decode_event(encode_event(events[i]));
    REQUIRE(back);
    CHECK(back->index() == i);
    CHECK(encode_event(*back) == encode_event(events[i]));
  }
}

TEST_CASE("numbers survive exactly, and those that are not finite too") {
  const auto back = decode_event(encode_event(one_of_each()[3]));
  const auto& reported = std::get<TrialReported>(*back);
  CHECK(std::bit_cast<std::uint64_t>(reported.values.at("accuracy")) == std::bit_cast<std::uint64_t>(0.1 + 0.2));
  CHECK(reported.values.at("loss") == std::numeric_limits<double>::infinity());
  CHECK(reported.seconds == 1.0 / 3);
  CHECK(reported.energy_joules == 5e-324);
  CHECK(reported.decision == Decision::pause);
  CHECK(reported.resumed == std::vector<TrialId>{1, 2});
  CHECK(reported.pipeline_state == R"({"stage":"probe"})");
  const auto nan = decode_event(encode_event(TrialFinished{0, {{"loss", std::nan("")}}}));
  CHECK(std::isnan(std::get<TrialFinished>(*nan).values.at("loss")));
  const auto suggested = decode_event(encode_event(one_of_each()[0]));
  CHECK(std::get<TrialSuggested>(*suggested).params == std::get<TrialSuggested>(one_of_each()[0]).params);
}

TEST_CASE("a damaged event is data loss, never a crash") {
  const char* const damaged[] = {
      "",
      "{",
      "[]",
      "3",
      "null",
      "{}",
      R"({"kind":3})",
      R"({"kind":"suggested"})",
      R"({"kind":"unheard"})",
      R"({"kind":"started","trial":"x","from_step":0,"worker":""})",
      R"({"kind":"reported","trial":0,"step":1,"values":{"a":"big"},"seconds":0,"energy_joules":0,"decision":"stop"})",
      R"({"kind":"reported","trial":0,"step":1,"values":{},"seconds":0,"energy_joules":0,"decision":"go"})",
      R"({"kind":"staged","trial":0,"records":[{"stage":"unheard"}]})",
      "\xff\xfe"};
  for (const std::string text : damaged) {
    CAPTURE(text);
    const auto event = decode_event(text);
    REQUIRE(!event);
    CHECK(event.error().code() == ErrorCode::data_loss);
  }
}
