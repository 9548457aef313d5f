// SPDX-License-Identifier: Apache-2.0
// NVML is asked twice, before and after; a refusal is no error.
#include "corridor/measure/cuda/health.h"

#include <fmt/format.h>

#include <array>

#include "corridor/measure/text_scan.h"

namespace corridor::measure::cuda {
namespace {

constexpr int sm_clock = 1, memory_clock = 2;
constexpr unsigned busy_from_percent = 5;

template <class Call, class... Arguments>
std::optional<unsigned> ask(Call call, Arguments... arguments) {
  unsigned value = 0;
  if (call == nullptr || call(arguments..., &value) != success) return std::nullopt;
  return value;
}

struct Reason {
  unsigned long long bit;
  const char* words;
};
// nvmlClocksThrottleReason… of NVML; idle (1), application clocks (2) and sync boost (16) are settings, not limits.
constexpr Reason reasons[] = {
    {0x04, "power cap"},        {0x08, "hardware slowdown"}, {0x20, "thermal slowdown (driver)"},
    {0x40, "thermal slowdown"}, {0x80, "power brake"},       {0x100, "display clock"},
};

void add(std::vector<std::pair<std::string, std::string>>& conditions, const char* what,
         const std::optional<unsigned>& value, const char* unit, double scale = 1) {
  if (value) conditions.emplace_back(what, fmt::format("{:g} {}", *value * scale, unit));
}

}  // namespace

HealthMonitor::HealthMonitor(const CudaLibraries& libraries, const std::string& pci_bus_id) {
  if (!libraries.nvml.api) {
    missing_ = libraries.nvml.missing;
    return;
  }
  if (libraries.nvml.api->init() != success) {
    missing_ = "NVML does not start";
    return;
  }
  api_ = libraries.nvml.api;
  if (pci_bus_id.empty() || api_->device_by_pci_bus_id(pci_bus_id.c_str(), &device_) != success) {
    device_ = nullptr;
    missing_ = "NVML does not know this GPU or this user may not ask";
  }
}

HealthMonitor::~HealthMonitor() {
  if (api_) api_->shutdown();
}

Health HealthMonitor::look() const {
  Health health;
  if (!api_) return health;
  std::array<char, 96> version{};
  if (api_->system_get_driver_version(version.data(), static_cast<unsigned>(version.size()) - 1) == success) {
    health.driver_version = clean_name(version.data());
  }
  if (device_ == nullptr) return health;
  health.sm_clock_mhz = ask(api_->clock_mhz, device_, sm_clock);
  health.memory_clock_mhz = ask(api_->clock_mhz, device_, memory_clock);
  health.most_sm_clock_mhz = ask(api_->max_clock_mhz, device_, sm_clock);
  health.power_limit_mw = ask(api_->power_limit_mw, device_);
  health.temperature_c = ask(api_->temperature_c, device_, 0);
  unsigned long long mask = 0;
  if (api_->throttle_reasons != nullptr && api_->throttle_reasons(device_, &mask) == success) health.throttle = mask;
  NvmlUtilization rates;
  if (api_->utilization != nullptr && api_->utilization(device_, &rates) == success) {
    health.busy_percent = rates.gpu_percent;
  }
  return health;
}

std::string throttle_words(unsigned long long mask) {
  std::string words;
  for (const Reason& reason : reasons) {
    if ((mask & reason.bit) == 0) continue;
    words += (words.empty() ? "" : ", ") + std::string(reason.words);
  }
  return words;
}

void report_health(const Health& before, const Health& after,
                   std::vector<std::pair<std::string, std::string>>& conditions, std::vector<std::string>& warnings) {
  if (!after.driver_version.empty()) conditions.emplace_back("driver", after.driver_version);
  add(conditions, "SM clock after the work", after.sm_clock_mhz, "MHz");
  add(conditions, "highest SM clock", after.most_sm_clock_mhz, "MHz");
  add(conditions, "memory clock after the work", after.memory_clock_mhz, "MHz");
  add(conditions, "power cap", after.power_limit_mw, "W", 1e-3);
  add(conditions, "temperature before", before.temperature_c, "°C");
  add(conditions, "temperature after", after.temperature_c, "°C");
  const std::string throttled = after.throttle ? throttle_words(*after.throttle) : std::string();
  if (!throttled.empty()) warnings.push_back("clocks are held down: " + throttled);
  if (before.busy_percent && *before.busy_percent >= busy_from_percent) {
    warnings.push_back(
        fmt::format("the GPU was {} % busy before the measurement: another program uses it", *before.busy_percent));
  }
}

}  // namespace corridor::measure::cuda
