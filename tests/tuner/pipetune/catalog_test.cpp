#include "tuner/pipetune/catalog.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tuner/space/value_text.hpp"
#include "tuner/study/study_spec.hpp"

using namespace tandem;
using namespace tandem::tuner;

namespace {

const Catalog& catalog() { return Catalog::builtin(); }

std::int64_t integer(const Parameters& system, const char* name) { return std::get<std::int64_t>(system.at(name)); }

Parameters system_of(std::int64_t cores, std::int64_t threads, std::int64_t replicas, std::int64_t micro_batch,
                     std::string allocator) {
  return {{"cores", cores},
          {"threads", threads},
          {"replicas", replicas},
          {"micro_batch", micro_batch},
          {"allocator", std::move(allocator)}};
}

SystemSpec spec_with(std::string name, std::vector<Value> values) {
  SystemSpec spec;
  spec.values.emplace(std::move(name), std::move(values));
  return spec;
}

Value whole(std::int64_t value) { return value; }

}  // namespace

TEST_CASE("two cores at batch 1024: twelve candidates, the defaults first, retaining replicas next") {
  const auto candidates = catalog().candidates({}, {2, 0}, 1024);
  CHECK(candidates.size() == 12);
  CHECK(candidates[0] == system_of(2, 2, 1, 0, "default"));
  CHECK(candidates[0] == catalog().defaults({}, {2, 0}));
  CHECK(candidates[1] == system_of(2, 1, 2, 128, "retain"));
  CHECK(catalog().reference({}, {2, 0}, 1024) == system_of(2, 2, 1, 128, "retain"));
  CHECK(catalog().reference({}, {2, 0}, 32) == system_of(2, 1, 2, 0, "retain"));
}

TEST_CASE("candidates use the cores they name, fit the batch, and no two do the same") {
  for (const int cores : {1, 2, 3, 4, 8, 64}) {
    for (const std::int64_t batch : {1, 2, 32, 128, 129, 256, 1000, 4096}) {
      CAPTURE(cores);
      CAPTURE(batch);
      const LeaseSize lease{cores, 0};
      const auto candidates = catalog().candidates({}, lease, batch);
      std::set<std::string> distinct;
      for (const Parameters& system : candidates) {
        const std::int64_t replicas = integer(system, "replicas");
        CHECK(integer(system, "threads") * replicas == integer(system, "cores"));
        CHECK(integer(system, "cores") <= cores);
        CHECK(replicas * std::max<std::int64_t>(integer(system, "micro_batch"), 1) <= batch);
        Parameters effective = system;
        const std::int64_t share = (batch + replicas - 1) / replicas;
        if (integer(system, "micro_batch") == 0) effective["micro_batch"] = share;
        CHECK(distinct.insert(canonical_text(effective)).second);
        for (const auto& [name, value] : system) CHECK(catalog().find(name)->check(value));
      }
      const Parameters reference = catalog().reference({}, lease, batch);
      CHECK(std::find(candidates.begin(), candidates.end(), reference) != candidates.end());
    }
  }
}

TEST_CASE("a single value pins its parameter everywhere") {
  const SystemSpec spec = spec_with("allocator", {std::string("default")});
  for (const Parameters& system : catalog().candidates(spec, {2, 0}, 1024)) {
    CHECK(system.at("allocator") == Value(std::string("default")));
  }
  CHECK(catalog().reference(spec, {2, 0}, 1024) == system_of(2, 2, 1, 128, "default"));
  CHECK(catalog().defaults(spec_with("replicas", {whole(2)}), {2, 0}) == system_of(2, 1, 2, 0, "default"));

  SystemSpec all = spec_with("cores", {whole(1)});
  all.values["allocator"] = {std::string("retain")};
  all.values["micro_batch"] = {whole(0)};
  CHECK(catalog().candidates(all, {1, 0}, 64) == std::vector<Parameters>{system_of(1, 1, 1, 0, "retain")});
}

TEST_CASE("a pinned value that leaves no sensible combination is kept all the same") {
  CHECK(catalog().candidates(spec_with("threads", {whole(4)}), {2, 0}, 64) ==
        std::vector<Parameters>{system_of(2, 4, 1, 0, "default")});
}

TEST_CASE("a chunk larger than the batch is the whole batch") {
  for (const Parameters& system : catalog().candidates(spec_with("micro_batch", {whole(256)}), {2, 0}, 32)) {
    CHECK(integer(system, "micro_batch") == 0);
  }
}

TEST_CASE("a trial leases the most cores it may use, never more than the worker has") {
  CHECK(catalog().lease_cores({}, 4) == 4);
  CHECK(catalog().lease_cores(spec_with("cores", {whole(1), whole(2)}), 4) == 2);
  CHECK(catalog().lease_cores(spec_with("cores", {whole(8)}), 4) == 4);
  CHECK(catalog().lease_cores({}, 0) == 1);
  CHECK(integer(catalog().defaults(spec_with("cores", {whole(8)}), {4, 0}), "cores") == 4);
}

TEST_CASE("of the framework's defaults only pinned values are named") {
  SystemSpec spec = spec_with("allocator", {std::string("retain")});
  spec.defaults = SystemDefaults::framework;
  CHECK(catalog().defaults(spec, {2, 0}) == Parameters{{"allocator", std::string("retain")}});
}

TEST_CASE("wrong system parameters are refused, naming what is allowed") {
  struct Wrong {
    SystemSpec spec;
    const char* message;
  };
  SystemSpec budget;
  budget.probe_budget = 1.5;
  SystemSpec too_many = spec_with("cores", {whole(2)});
  too_many.values["threads"] = {whole(4), whole(8)};
  SystemSpec explosion;
  for (const char* name : {"cores", "threads", "replicas"}) {
    for (std::int64_t i = 1; i <= 100; ++i) explosion.values[name].emplace_back(i);
  }
  const Wrong wrongs[] = {
      {spec_with("cores", {whole(0)}), "cores = 0: must be an integer from 1 to"},
      {spec_with("cores", {1.0}), "cores = 1.0: must be an integer"},
      {spec_with("threads", {true}), "threads = true"},
      {spec_with("replicas", {std::string("2")}), "replicas = \"2\""},
      {spec_with("micro_batch", {whole(-1)}), "micro_batch = -1: must be an integer from 0 to"},
      {spec_with("allocator", {std::string("jemalloc")}), "must be \"default\" or \"retain\""},
      {spec_with("allocator", {whole(1)}), "must be \"default\" or \"retain\""},
      {spec_with("thread", {whole(1)}), "did you mean 'threads'?"},
      {spec_with("cores", {whole(1), whole(2), whole(1)}), "cores: 1 is listed twice"},
      {budget, "probe_budget = 1.5: must be from 0 to 1"},
      {too_many, "threads = 4 needs as many cores, but cores is at most 2"},
      {explosion, "combine to more than"},
  };
  for (const Wrong& wrong : wrongs) {
    CAPTURE(wrong.message);
    const auto checked = check_system_spec(wrong.spec);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().message().find(wrong.message) != std::string::npos);
  }
  CHECK(check_system_spec({}));
  CHECK(check_system_spec(spec_with("cores", {whole(1), whole(2)})));
  CHECK(check_system_spec(spec_with("cores", {})));
}

TEST_CASE("every parameter is found by its name, describes itself and offers allowed values") {
  CHECK(catalog().all().size() == 5);
  CHECK(catalog().find("turbo") == nullptr);
  for (const SystemParameter* parameter : catalog().all()) {
    CHECK(catalog().find(parameter->name()) == parameter);
    CHECK_FALSE(parameter->summary().empty());
    CHECK(parameter->live());
    for (const Value& value : parameter->values({4, 0}, 1024)) CHECK(parameter->check(value));
    CHECK(parameter->check(parameter->lease_default({4, 0})));
  }
}
