#include "runtime/actor/deadline_table.hpp"

#include <doctest/doctest.h>

#include <map>

#include "runtime/base/random.hpp"

namespace tandem::runtime {
namespace {

MonotonicTime at(std::int64_t nanoseconds) { return MonotonicTime(Duration(nanoseconds)); }

}  // namespace

TEST_CASE("what is due comes by its time, and equal times in the order they were put in") {
  DeadlineTable<int> table;
  (void)table.insert(at(30), 3);
  (void)table.insert(at(10), 1);
  (void)table.insert(at(10), 2);
  CHECK(table.next() == at(10));
  CHECK_FALSE(table.take_due(at(9)));
  CHECK(table.take_due(at(100)) == 1);
  CHECK(table.take_due(at(100)) == 2);
  CHECK(table.take_due(at(100)) == 3);
  CHECK_FALSE(table.take_due(at(100)));
}

TEST_CASE("a number taken once is of no use again, even when its place is") {
  DeadlineTable<int> table;
  const auto first = table.insert(at(1), 1);
  CHECK(table.take(first) == 1);
  CHECK_FALSE(table.take(first));
  const auto second = table.insert(at(1), 2);
  CHECK(second != first);
  CHECK_FALSE(table.take(first));
  CHECK(table.take(second) == 2);
}

TEST_CASE("a long random history agrees with an ordered map") {
  DeadlineTable<int> table;
  std::map<std::pair<MonotonicTime, int>, DeadlineTable<int>::Id> model;
  Random random(4);
  MonotonicTime now{};
  for (int value = 0; value < 20'000; ++value) {
    switch (random.uniform_int(0, 2)) {
      case 0: {
        const auto when = now + Duration(random.uniform_int(0, 1000));
        model[{when, value}] = table.insert(when, value);
        break;
      }
      case 1:
        if (!model.empty()) {
          auto chosen = std::next(model.begin(), random.uniform_int(0, static_cast<std::int64_t>(model.size()) - 1));
          REQUIRE(table.take(chosen->second) == chosen->first.second);
          model.erase(chosen);
        }
        break;
      default:
        now += Duration(random.uniform_int(0, 300));
        while (const auto due = table.take_due(now)) {
          REQUIRE(model.begin()->first.second == *due);
          model.erase(model.begin());
        }
        REQUIRE((model.empty() || model.begin()->first.first > now));
    }
    REQUIRE(table.size() == model.size());
  }
}

}  // namespace tandem::runtime
