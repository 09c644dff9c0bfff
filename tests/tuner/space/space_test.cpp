#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <limits>
#include <set>

#include "tuner/space/space.hpp"
#include "tuner/space/value_text.hpp"

using namespace tandem;
using namespace tandem::tuner;

namespace {

Value text(const char* word) { return Value(std::string(word)); }
Value integer(std::int64_t number) { return Value(number); }
ChoiceDomain words(std::initializer_list<const char*> list) {
  ChoiceDomain domain;
  for (const char* word : list) domain.choices.push_back(text(word));
  return domain;
}

/// sgd has a momentum; with momentum 2 also nesterov; dropout is always there.
Space conditional_space() {
  return *Space::create({{"dropout", IntDomain{0, 1, 1, false}, {}},
                         {"optimizer", words({"adam", "sgd"}), {}},
                         {"momentum", IntDomain{0, 2, 1, false}, {{"optimizer", {text("sgd")}}}},
                         {"nesterov", words({"no", "yes"}), {{"momentum", {integer(2)}}}}});
}

std::string refusal(const std::vector<ParameterSpec>& parameters) {
  const auto space = Space::create(parameters);
  return space ? "" : space.error().message();
}

}  // namespace

TEST_CASE("parameters come by name, parents before what depends on them") {
  const Space space = conditional_space();
  std::vector<std::string> names;
  for (const auto& parameter : space.parameters()) names.push_back(parameter.name);
  CHECK(names == std::vector<std::string>{"dropout", "optimizer", "momentum", "nesterov"});
}

TEST_CASE("the grid lists each point once, inactive parameters absent, the last one fastest") {
  const auto grid = conditional_space().grid(100);
  REQUIRE(grid);
  std::vector<std::string> points;
  for (const auto& point : *grid) points.push_back(canonical_text(point));
  REQUIRE(points.size() == 10);
  CHECK(points[0] == R"({"dropout":0,"optimizer":"adam"})");
  CHECK(points[1] == R"({"dropout":0,"momentum":0,"optimizer":"sgd"})");
  CHECK(points[3] == R"({"dropout":0,"momentum":2,"nesterov":"no","optimizer":"sgd"})");
  CHECK(points[4] == R"({"dropout":0,"momentum":2,"nesterov":"yes","optimizer":"sgd"})");
  CHECK(points[5] == R"({"dropout":1,"optimizer":"adam"})");
  CHECK(std::set<std::string>(points.begin(), points.end()).size() == 10);
  CHECK(conditional_space().cardinality() == 10u);
}

TEST_CASE("a continuous parameter has no grid and is named") {
  const Space space = *Space::create({{"b", IntDomain{0, 1, 1, false}, {}}, {"rate", FloatDomain{0, 1, 0, false}, {}}});
  CHECK(!space.cardinality());
  const auto grid = space.grid(10);
  REQUIRE(!grid);
  CHECK(grid.error().message().find("rate is continuous") != std::string::npos);
}

TEST_CASE("a grid larger than asked for is refused") {
  const auto grid = conditional_space().grid(9);
  REQUIRE(!grid);
  CHECK(grid.error().code() == ErrorCode::resource_exhausted);
}

TEST_CASE("counting does not list: large and many-branched spaces are counted at once") {
  std::vector<ParameterSpec> wide;
  for (int i = 0; i < 3; ++i) wide.push_back({"p" + std::to_string(i), IntDomain{1, 1'000'000, 1, false}, {}});
  CHECK(Space::create(wide)->cardinality() == 1'000'000'000'000'000'000u);
  wide.push_back({"q", IntDomain{1, 1'000'000, 1, false}, {}});
  CHECK(Space::create(wide)->cardinality() == std::numeric_limits<std::uint64_t>::max());

  std::vector<ParameterSpec> branched;  // 40 independent pairs of a switch and what it switches: 3^40
  for (int i = 0; i < 40; ++i) {
    const std::string name = "s" + std::to_string(i);
    branched.push_back({name, words({"off", "on"}), {}});
    branched.push_back({name + "x", words({"a", "b"}), {{name, {text("on")}}}});
  }
  CHECK(Space::create(branched)->cardinality() == 12157665459056928801u);
}

TEST_CASE("several conditions must all hold, and one may name several values") {
  const Space space =
      *Space::create({{"a", IntDomain{0, 2, 1, false}, {}},
                      {"b", IntDomain{0, 2, 1, false}, {}},
                      {"c", words({"x", "y"}), {{"a", {integer(0), integer(1)}}, {"b", {integer(2)}}}}});
  CHECK(space.cardinality() == 7u + 2 * 2u);
  CHECK(space.grid(100)->size() == 11);
}

TEST_CASE("faulty spaces are refused, naming parameter and fault") {
  const ParameterSpec optimizer{"optimizer", words({"adam", "sgd"}), {}};
  const Domain small = IntDomain{0, 1, 1, false};
  CHECK(refusal({{"a", IntDomain{3, 1, 1, false}, {}}}) == "a: low must be less than high");
  CHECK(refusal({optimizer, optimizer}) == "optimizer is named twice");
  CHECK(refusal({{"a", small, {{"b", {integer(0)}}}}}).find("a: when names b, which is not in the space") == 0);
  CHECK(refusal({optimizer, {"a", small, {{"optimizer", {text("rmsprop")}}}}})
            .find("a: when optimizer: \"rmsprop\" is not allowed; allowed: one of \"adam\", \"sgd\"") == 0);
  CHECK(refusal({{"r", FloatDomain{0, 1, 0, false}, {}}, {"a", small, {{"r", {Value(0.5)}}}}}).find("no step") !=
        std::string::npos);
  CHECK(refusal({{"a", small, {{"b", {integer(0)}}}}, {"b", small, {{"a", {integer(0)}}}}}).find("circle") !=
        std::string::npos);
  CHECK(refusal({{"a", small, {{"a", {integer(0)}}}}}).find("circle") != std::string::npos);
  CHECK(refusal({optimizer, {"a", small, {{"optimizer", {}}}}}).find("at least one value") != std::string::npos);
}

TEST_CASE("points outside the space are refused, naming what is allowed") {
  const Space space = conditional_space();
  const auto refused = [&](const Parameters& params) {
    const auto inside = space.contains(params);
    return inside ? std::string() : inside.error().message();
  };
  CHECK(refused({{"dropout", integer(0)}, {"optimizer", text("adam")}}).empty());
  CHECK(refused({{"dropout", integer(0)}}) == "optimizer is missing; allowed: one of \"adam\", \"sgd\"");
  CHECK(refused({{"dropout", integer(0)}, {"optimizer", text("sgd")}}).find("momentum is missing") == 0);
  CHECK(refused({{"dropout", integer(0)}, {"optimizer", text("adam")}, {"momentum", integer(1)}})
            .find("momentum does not exist here; it does when optimizer is one of \"sgd\"") == 0);
  CHECK(refused({{"dropout", integer(5)}, {"optimizer", text("adam")}}) ==
        "dropout: 5 is not allowed; allowed: an integer from 0 to 1");
  CHECK(refused({{"dropuot", integer(0)}}).find("dropuot is not in the space; allowed: dropout") == 0);
}

TEST_CASE("an empty space has one empty point") {
  const Space space;
  CHECK(space.cardinality() == 1u);
  CHECK(space.grid(2)->size() == 1);
}

namespace {

/// A random tree of conditions over small integer and choice parameters.
Space arbitrary_space() {
  std::vector<ParameterSpec> parameters;
  const int count = *rc::gen::inRange(1, 6);
  for (int i = 0; i < count; ++i) {
    ParameterSpec parameter{"p" + std::to_string(i), IntDomain{0, *rc::gen::inRange(1, 4), 1, false}, {}};
    if (i > 0 && *rc::gen::arbitrary<bool>()) {
      const int parent = *rc::gen::inRange(0, i);
      parameter.when.push_back({"p" + std::to_string(parent), {integer(*rc::gen::inRange(0, 2))}});
    }
    parameters.push_back(std::move(parameter));
  }
  return *Space::create(std::move(parameters));
}

}  // namespace

TEST_CASE("property: the grid has cardinality points, all different, all inside; samples are among them") {
  CHECK(rc::check([] {
    const Space space = arbitrary_space();
    const auto grid = space.grid(100'000);
    RC_ASSERT(grid.has_value());
    std::set<std::string> points;
    for (const auto& point : *grid) {
      RC_ASSERT(space.contains(point).has_value());
      RC_ASSERT(space.at(space.position_of(point)) == point);
      RC_ASSERT(points.insert(canonical_text(point)).second);
    }
    RC_ASSERT(points.size() == *space.cardinality());
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    for (int i = 0; i < 20; ++i) RC_ASSERT(points.contains(canonical_text(space.sample(random))));
  }));
}
