/// EnergyMeter: joules used so far, measured by the processor's own meters (RAPL) or else estimated, and labelled so.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/clock.hpp"
#include "runtime/base/file_system.hpp"

namespace tandem::runtime {

enum class EnergySource { measured, estimated };
/// "measured", "estimated".
[[nodiscard]] std::string_view to_string(EnergySource source) noexcept;

struct EnergyReading {
  double joules = 0;  ///< since the meter was made; take differences
  EnergySource source = EnergySource::estimated;
};

/// The estimate: idle_watts × wall seconds + active_watts_per_core × CPU seconds of this process. The defaults are
/// of the size of one server core's share; they rank configurations by work and time, and are no measurement.
struct EnergyModel {
  double idle_watts = 10.0;
  double active_watts_per_core = 8.0;
};

/// Thread-safe. Measured joules are of whole packages, whoever used them; estimated ones of this process.
class EnergyMeter {
 public:
  /// On this machine.
  EnergyMeter();
  /// With everything it looks at given; the three must outlive the meter. `cpu_seconds` is this process's so far.
  EnergyMeter(const FileSystem& files, const Clock& clock, std::function<double()> cpu_seconds, EnergyModel model = {});

  [[nodiscard]] EnergyReading read();
  [[nodiscard]] EnergySource source() const noexcept;

 private:
  struct Package {
    std::string energy_path;
    std::uint64_t range_microjoules = 0;  ///< the counter wraps here
    std::uint64_t last_microjoules = 0;
  };
  void find_packages();
  [[nodiscard]] bool read_packages();
  [[nodiscard]] double estimate() const;

  std::unique_ptr<FileSystem> own_files_;
  std::unique_ptr<Clock> own_clock_;
  const FileSystem& files_;
  const Clock& clock_;
  std::function<double()> cpu_seconds_;
  EnergyModel model_;
  MonotonicTime start_;
  double start_cpu_seconds_ = 0;
  mutable std::mutex mutex_;
  std::vector<Package> packages_;  ///< empty: estimate
  double measured_joules_ = 0;
  double offset_joules_ = 0;  ///< of the estimate, when it took over from a meter that went away
};

}  // namespace tandem::runtime
