// SPDX-License-Identifier: Apache-2.0
// Roofs by the nearest witness first.
#include "corridor/diagnose/counters/roofs.h"

#include <algorithm>

namespace corridor::diagnose {
namespace {

using profile::KernelCounters;
using profile::MeasuredRoofs;

std::optional<Roof> roof(const std::optional<double>& per_s, RoofSource source) {
  return per_s && *per_s > 0 ? std::optional(Roof{*per_s, source}) : std::nullopt;
}

std::optional<double> of_launch(const KernelCounters& launch, CounterLevel level) {
  switch (level) {
    case CounterLevel::dram:
      return launch.peak_dram_bytes_per_s;
    case CounterLevel::l2:
      return launch.peak_l2_bytes_per_s;
    case CounterLevel::l1:
      return launch.peak_l1_bytes_per_s;
    case CounterLevel::shared:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<double> of_roofs(const MeasuredRoofs& roofs, CounterLevel level) {
  switch (level) {
    case CounterLevel::dram:
      return roofs.dram_bytes_per_s;
    case CounterLevel::l2:
      return roofs.l2_bytes_per_s;
    case CounterLevel::l1:
      return roofs.l1_bytes_per_s;
    case CounterLevel::shared:
      return roofs.lds_bytes_per_s;
  }
  return std::nullopt;
}

std::optional<double> of_ladder(const hardware::Device& device, std::string_view head) {
  for (const hardware::MemoryLevel& level : device.ladder) {
    if (std::string_view(level.name).substr(0, head.size()) == head && level.bandwidth) {
      return level.bandwidth->value.value();
    }
  }
  return std::nullopt;
}

std::optional<double> of_device(const hardware::Device& device, CounterLevel level, double clock) {
  switch (level) {
    case CounterLevel::dram:
      return device.memory_bandwidth ? std::optional(device.memory_bandwidth->value.value()) : std::nullopt;
    case CounterLevel::l2:
      return of_ladder(device, "L2");
    case CounterLevel::l1:
    case CounterLevel::shared:
      if (const auto peak = of_ladder(device, "L1")) return *peak * clock;
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

double clock_share(const KernelCounters& launch, const hardware::Device* device) {
  if (device == nullptr || !device->clock_boost || !launch.sm_clock_hz) return 1;
  const double boost = device->clock_boost->value.value();
  // A clock above the data sheet's boost does not raise the data sheet's peaks.
  return boost > 0 ? std::min(1.0, *launch.sm_clock_hz / boost) : 1;
}

std::optional<Roof> level_roof(const RoofInput& input, const KernelCounters& launch, CounterLevel level) {
  if (const auto own = roof(of_launch(launch, level), RoofSource::profile)) return own;
  for (const MeasuredRoofs& roofs : input.trace.roofs) {
    if (const auto seen = roof(of_roofs(roofs, level), RoofSource::measured_roofs)) return seen;
  }
  if (input.device != nullptr) {
    const double clock = clock_share(launch, input.device);
    if (const auto sheet = roof(of_device(*input.device, level, clock), RoofSource::data_sheet)) return sheet;
  }
  // Some profilers name the memory's peak beside the device.
  if (level == CounterLevel::dram && !input.trace.devices.empty()) {
    return roof(input.trace.devices.front().memory_bytes_per_s, RoofSource::data_sheet);
  }
  return std::nullopt;
}

std::optional<Roof> type_roof(const RoofInput& input, const KernelCounters& launch, std::string_view type) {
  const auto in = [&](const std::vector<std::pair<std::string, double>>& list) -> std::optional<double> {
    for (const auto& [name, per_s] : list) {
      if (name == type) return per_s;
    }
    return std::nullopt;
  };
  if (const auto own = roof(in(launch.peak_flop_per_s), RoofSource::profile)) return own;
  for (const MeasuredRoofs& roofs : input.trace.roofs) {
    if (const auto seen = roof(in(roofs.flop_per_s), RoofSource::measured_roofs)) return seen;
  }
  if (input.device == nullptr) return std::nullopt;
  constexpr std::string_view tensor = " tensor";
  const bool is_tensor = type.size() > tensor.size() && type.substr(type.size() - tensor.size()) == tensor;
  // Half-precision vector rates differ by generation, and no data sheet in the catalogue tells them.
  if (!is_tensor && type != "fp32" && type != "fp64") return std::nullopt;
  const auto known = hardware::compute_type_from(is_tensor ? type.substr(0, type.size() - tensor.size()) : type);
  if (!known || !input.device->peak(*known)) return std::nullopt;
  const double clock = clock_share(launch, input.device);
  return roof(input.device->peak(*known)->value.value() * clock, RoofSource::data_sheet);
}

std::optional<double> flops_of_tensor_instruction(const profile::Trace& trace, const hardware::Device* device) {
  // 8×8×4 products on Volta; 16×8×16 from Ampere to Ada.
  constexpr double volta = 8 * 8 * 4 * 2, ampere = 16 * 8 * 16 * 2;
  for (const profile::TraceDevice& traced : trace.devices) {
    if (traced.compute_major == 8) return ampere;
    if (traced.compute_major == 7 && traced.compute_minor == 0) return volta;
    if (traced.compute_major) return std::nullopt;
  }
  if (device == nullptr) return std::nullopt;
  if (device->architecture.find("cc 8.") != std::string::npos) return ampere;
  if (device->architecture.find("cc 7.0") != std::string::npos) return volta;
  return std::nullopt;
}

}  // namespace corridor::diagnose
