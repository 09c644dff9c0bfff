#include "runtime/host/energy.hpp"

#include <sys/resource.h>

#include <utility>

#include "runtime/host/system_files.hpp"

namespace tandem::runtime {

namespace {

const char* const kPowercapDirectory = "/sys/class/powercap";
/// "intel-rapl:0" is a package (AMD's too); "intel-rapl:0:1" is a part of one and would count twice.
constexpr std::string_view kPackagePrefix = "intel-rapl:";

double process_cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

std::string_view to_string(EnergySource source) noexcept {
  return source == EnergySource::measured ? "measured" : "estimated";
}

EnergyMeter::EnergyMeter()
    : own_files_(std::make_unique<PosixFileSystem>()),
      own_clock_(std::make_unique<SystemClock>()),
      files_(*own_files_),
      clock_(*own_clock_),
      cpu_seconds_(process_cpu_seconds) {
  find_packages();
}

EnergyMeter::EnergyMeter(const FileSystem& files, const Clock& clock, std::function<double()> cpu_seconds,
                         EnergyModel model)
    : files_(files), clock_(clock), cpu_seconds_(std::move(cpu_seconds)), model_(model) {
  find_packages();
}

void EnergyMeter::find_packages() {
  start_ = clock_.now();
  start_cpu_seconds_ = cpu_seconds_();
  const auto names = files_.list(kPowercapDirectory);
  if (!names) return;
  for (const auto& name : *names) {
    if (!name.starts_with(kPackagePrefix) || name.find(':', kPackagePrefix.size()) != std::string::npos) continue;
    const std::string directory = fmt::format("{}/{}", kPowercapDirectory, name);
    const auto label = files_.read_file(directory + "/name", limits::kSystemFileBytes);
    if (!label || !trimmed(*label).starts_with("package")) continue;  // "psys" would count the packages again
    const auto energy = read_number<std::uint64_t>(files_, directory + "/energy_uj");
    const auto range = read_number<std::uint64_t>(files_, directory + "/max_energy_range_uj");
    if (!energy || !range) {
      packages_.clear();  // a part of the packages would be no measurement of the machine
      return;
    }
    packages_.push_back({directory + "/energy_uj", *range, *energy});
  }
}

bool EnergyMeter::read_packages() {
  for (auto& package : packages_) {
    const auto now = read_number<std::uint64_t>(files_, package.energy_path);
    if (!now) return false;
    const bool wrapped = *now < package.last_microjoules;
    const std::uint64_t used =
        wrapped ? package.range_microjoules - package.last_microjoules + *now : *now - package.last_microjoules;
    measured_joules_ += static_cast<double>(used) * 1e-6;
    package.last_microjoules = *now;
  }
  return true;
}

double EnergyMeter::estimate() const {
  return model_.idle_watts * to_seconds(clock_.now() - start_) +
         model_.active_watts_per_core * (cpu_seconds_() - start_cpu_seconds_);
}

EnergyReading EnergyMeter::read() {
  const std::lock_guard lock(mutex_);
  if (packages_.empty()) return {offset_joules_ + estimate(), EnergySource::estimated};
  if (read_packages()) return {measured_joules_, EnergySource::measured};
  // The meter has gone (rights withdrawn, device removed): estimate from here, without a jump.
  packages_.clear();
  offset_joules_ = measured_joules_ - estimate();
  return {measured_joules_, EnergySource::estimated};
}

EnergySource EnergyMeter::source() const noexcept {
  const std::lock_guard lock(mutex_);
  return packages_.empty() ? EnergySource::estimated : EnergySource::measured;
}

}  // namespace tandem::runtime
