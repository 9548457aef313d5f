// SPDX-License-Identifier: Apache-2.0
// The state of a GPU as NVML tells it: clocks, power cap, temperature, what holds the clocks down, other work on it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "corridor/measure/cuda/libraries.h"

namespace corridor::measure::cuda {

/// One look; what NVML refuses (permission, old driver) stays empty.
struct Health {
  std::optional<unsigned> sm_clock_mhz, memory_clock_mhz, most_sm_clock_mhz, power_limit_mw, temperature_c,
      busy_percent;
  std::optional<unsigned long long> throttle;  ///< bits of nvmlClocksThrottleReason…
  std::string driver_version;
};

class HealthMonitor {
 public:
  /// Without NVML, or where it does not know the GPU, every look is empty.
  HealthMonitor(const CudaLibraries& libraries, const std::string& pci_bus_id);
  HealthMonitor(const HealthMonitor&) = delete;
  HealthMonitor& operator=(const HealthMonitor&) = delete;
  ~HealthMonitor();
  [[nodiscard]] Health look() const;
  /// Why looks are empty; empty when they are not.
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  std::optional<NvmlApi> api_;
  NvmlDevice device_ = nullptr;
  std::string missing_;
};

/// "power cap, thermal slowdown"; empty when nothing that lowers the clocks is set.
[[nodiscard]] std::string throttle_words(unsigned long long mask);

/// Puts two looks, before and after the work, into conditions and warnings.
void report_health(const Health& before, const Health& after,
                   std::vector<std::pair<std::string, std::string>>& conditions, std::vector<std::string>& warnings);

}  // namespace corridor::measure::cuda
