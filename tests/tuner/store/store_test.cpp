/// What every store does; run on each.
#include "tuner/store/store.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "tests/tuner/store/temporary_directory.hpp"

using namespace tandem;
using namespace tandem::tuner;

namespace {

std::vector<std::string> encoded(const std::vector<Event>& events) {
  std::vector<std::string> texts;
  for (const auto& event : events) texts.push_back(encode_event(event));
  return texts;
}

StudyRecord record(const std::string& name) {
  return {name, "[study]\nname = \"" + name + "\"\n", std::numeric_limits<std::uint64_t>::max(), "running", 17};
}

void check_store(Store& store) {
  CHECK(store.studies()->empty());
  CHECK(!store.find("one")->has_value());
  REQUIRE(store.create(record("one")));
  REQUIRE(store.create(record("two")));
  const auto twice = store.create(record("one"));
  REQUIRE(!twice);
  CHECK(twice.error().code() == ErrorCode::already_exists);

  const auto found = *store.find("one");
  REQUIRE(found);
  CHECK(found->source == record("one").source);
  CHECK(found->seed == std::numeric_limits<std::uint64_t>::max());
  CHECK(found->state == "running");
  CHECK(found->created_unix_nanoseconds == 17);
  REQUIRE(store.set_state("one", "finished"));
  CHECK((*store.find("one"))->state == "finished");
  CHECK((*store.find("two"))->state == "running");
  CHECK(store.studies()->front().name == "one");

  const std::vector<Event> first{TrialSuggested{0, {{"x", 0.1}}, {}}, TrialStarted{0, 0, "w"}};
  const std::vector<Event> second{TrialReported{0, 1, {{"loss", std::nan("")}}, 1.5, 0, Decision::stop, {}, "{}"}};
  CHECK(store.events("one")->empty());
  REQUIRE(store.append("one", first));
  REQUIRE(store.append("two", second));
  REQUIRE(store.append("one", {}));
  REQUIRE(store.append("one", second));
  auto all = first;
  all.push_back(second[0]);
  CHECK(encoded(*store.events("one")) == encoded(all));
  CHECK(encoded(*store.events("two")) == encoded(second));
  REQUIRE(store.flush());

  for (const auto& result :
       {store.append("three", first), store.set_state("three", "finished"), store.erase("three")}) {
    REQUIRE(!result);
    CHECK(result.error().code() == ErrorCode::not_found);
    CHECK(result.error().message().find("no study \"three\"") != std::string::npos);
  }
  CHECK(!store.events("three"));

  REQUIRE(store.erase("one"));
  CHECK(!store.find("one")->has_value());
  REQUIRE(store.create(record("one")));
  CHECK(store.events("one")->empty());
  CHECK(encoded(*store.events("two")) == encoded(second));

  CHECK(!store.document("ground_truth")->has_value());
  REQUIRE(store.put_document("ground_truth", "[1]"));
  REQUIRE(store.put_document("ground_truth", "[1, 2]"));
  CHECK(*store.document("ground_truth") == "[1, 2]");

  REQUIRE(store.claim("one"));
  REQUIRE(store.claim("one"));
  store.release("one");
  store.release("one");
}

}  // namespace

TEST_CASE("a memory store keeps studies, events and documents") { check_store(*make_memory_store()); }

TEST_CASE("a SQLite store keeps studies, events and documents, and makes its directory for the user alone") {
  TemporaryDirectory directory;
  const std::string state = directory.path() + "/new/state";
  check_store(**open_sqlite_store(state));
  CHECK(std::filesystem::status(state).permissions() == std::filesystem::perms::owner_all);
}

TEST_CASE("what was stored is there when the database is opened again, to write or to read") {
  TemporaryDirectory directory;
  const std::vector<Event> events{TrialSuggested{0, {{"x", 0.1}}, {}}};
  {
    auto store = *open_sqlite_store(directory.path());
    REQUIRE(store->create(record("one")));
    REQUIRE(store->append("one", events));
    REQUIRE(store->put_document("d", "text"));
  }
  for (auto* open : {&open_sqlite_store, &open_sqlite_store_read_only}) {
    auto store = *open(directory.path());
    CHECK(encoded(*store->events("one")) == encoded(events));
    CHECK(*store->document("d") == "text");
  }
}

TEST_CASE("a store opened for reading creates nothing and writes nothing") {
  TemporaryDirectory directory;
  const auto none = open_sqlite_store_read_only(directory.path() + "/absent");
  REQUIRE(!none);
  CHECK(none.error().code() == ErrorCode::not_found);
  CHECK(!std::filesystem::exists(directory.path() + "/absent"));
  REQUIRE((*open_sqlite_store(directory.path()))->create(record("one")));
  auto reader = *open_sqlite_store_read_only(directory.path());
  const auto refused = reader->create(record("two"));
  REQUIRE(!refused);
  CHECK(refused.error().code() == ErrorCode::permission_denied);
}

TEST_CASE("a reader sees what a writer that is still open has committed") {
  TemporaryDirectory directory;
  auto writer = *open_sqlite_store(directory.path());
  auto reader = *open_sqlite_store_read_only(directory.path());
  CHECK(reader->studies()->empty());
  REQUIRE(writer->create(record("one")));
  CHECK(reader->studies()->size() == 1);
}

TEST_CASE("a state directory without a parent in its name is made in the working directory") {
  const TemporaryDirectory directory;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  const auto store = open_sqlite_store("state");
  const bool made = std::filesystem::is_directory("state");
  std::filesystem::current_path(before);
  if (!store) FAIL(store.error().message());
  CHECK(made);
}
