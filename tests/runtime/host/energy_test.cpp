#include "runtime/host/energy.hpp"

#include <doctest/doctest.h>

using namespace tandem;
using namespace tandem::runtime;

namespace {

struct Machine {
  MemoryFileSystem files;
  VirtualClock clock;
  double cpu_seconds = 5;

  EnergyMeter meter() {
    return {files, clock, [this] { return cpu_seconds; }, EnergyModel{.idle_watts = 10, .active_watts_per_core = 8}};
  }
  void seed_package(int number, const char* microjoules, const char* name = "package") {
    const std::string directory = fmt::format("/sys/class/powercap/intel-rapl:{}", number);
    files.seed(directory + "/name", fmt::format("{}-{}\n", name, number));
    files.seed(directory + "/energy_uj", microjoules);
    files.seed(directory + "/max_energy_range_uj", "1000000000\n");
    files.seed(directory + ":0/name", "core\n");
    files.seed(directory + ":0/energy_uj", "777\n");
    files.seed(directory + ":0/max_energy_range_uj", "1000000000\n");
  }
};

}  // namespace

TEST_CASE("without a meter the model estimates from wall and CPU time, and says so") {
  Machine machine;
  auto meter = machine.meter();
  CHECK(meter.read().joules == 0);
  machine.clock.advance_to(machine.clock.now() + std::chrono::seconds(10));
  machine.cpu_seconds += 15;
  const auto reading = meter.read();
  CHECK(reading.source == EnergySource::estimated);
  CHECK(reading.joules == doctest::Approx(10 * 10 + 8 * 15));
}

TEST_CASE("packages are summed, their parts and psys are not counted again") {
  Machine machine;
  machine.seed_package(0, "1000000\n");
  machine.seed_package(1, "5000000\n");
  machine.seed_package(2, "9000000\n", "psys");
  auto meter = machine.meter();
  machine.seed_package(0, "3500000\n");
  machine.seed_package(1, "5500000\n");
  machine.seed_package(2, "99000000\n", "psys");
  const auto reading = meter.read();
  CHECK(reading.source == EnergySource::measured);
  CHECK(reading.joules == doctest::Approx(2.5 + 0.5));
}

TEST_CASE("a counter that wraps around goes on counting") {
  Machine machine;
  machine.seed_package(0, "999000000\n");
  auto meter = machine.meter();
  machine.seed_package(0, "2000000\n");
  CHECK(meter.read().joules == doctest::Approx(3.0));
}

TEST_CASE("an unreadable package makes the whole an estimate") {
  Machine machine;
  machine.seed_package(0, "1\n");
  machine.seed_package(1, "1\n");
  machine.files.deny_access("/sys/class/powercap/intel-rapl:1/energy_uj");
  CHECK(machine.meter().source() == EnergySource::estimated);
}

TEST_CASE("a meter that goes away hands over to the estimate without a jump") {
  Machine machine;
  machine.seed_package(0, "1000000\n");
  auto meter = machine.meter();
  machine.clock.advance_to(machine.clock.now() + std::chrono::seconds(100));
  machine.seed_package(0, "4000000\n");
  CHECK(meter.read().joules == doctest::Approx(3.0));
  machine.files.deny_access("/sys/class/powercap");
  const auto lost = meter.read();
  CHECK(lost.source == EnergySource::estimated);
  CHECK(lost.joules == doctest::Approx(3.0));
  machine.clock.advance_to(machine.clock.now() + std::chrono::seconds(1));
  CHECK(meter.read().joules == doctest::Approx(13.0));
}

TEST_CASE("this machine's meter never runs backwards") {
  EnergyMeter meter;
  const auto first = meter.read();
  const auto second = meter.read();
  CHECK(second.joules >= first.joules);
  CHECK(second.source == meter.source());
}
