// SPDX-License-Identifier: Apache-2.0
// What is known of the devices: the list, one device in full, and how a product line moved from generation to
// generation.
//
//   H100 → H200: bandwidth × 1.43, bf16 arithmetic × 1.00, ridge 295 → 206: it fell.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/assets.h"
#include "corridor/base/result.h"
#include "corridor/hardware/device.h"

namespace corridor::app {

using Ridges = std::array<std::optional<units::FlopsPerByte>, hardware::compute_type_count>;

/// One line of the list. Empty means that no source tells.
struct DeviceSummary {
  std::string id, name, vendor, family, form_factor, memory_type;
  hardware::DeviceKind kind = hardware::DeviceKind::gpu;
  std::optional<double> year;
  std::optional<units::Bytes> memory;
  std::optional<units::BytesPerSecond> bandwidth;
  Ridges ridges;
  std::optional<double> threads_resident;  ///< on the whole device
  std::optional<double> lanes_per_clock;   ///< FP32 lanes that retire each clock, whole device
  std::optional<double> board_power_w;
  std::string warning;
};

struct DeviceList {
  std::string vendor;  ///< asked for; empty = all
  std::vector<DeviceSummary> devices;
};

/// One number with what makes it believable. `value` is SI, in `unit`.
struct FactRow {
  std::string key;    ///< as in the device file: "peaks.bf16_flop_per_s"
  std::string label;  ///< for people: "bf16 peak"
  double value = 0;
  std::string_view unit;  ///< "B", "B/s", "FLOP/s", "s", "Hz", "W" or "" for a count
  hardware::Basis basis = hardware::Basis::assumed;
  std::string source, date, note;
};

struct DeviceDetail {
  hardware::Device device;
  std::string resolution_note;  ///< how the name was understood; empty when it was exact
  Ridges ridges;
  std::vector<FactRow> facts;  ///< every number the device file holds
};

/// One type's numbers on one device of a line.
struct TrendPoint {
  std::string id, name;
  std::optional<double> year;
  std::optional<units::BytesPerSecond> bandwidth;
  std::array<std::optional<units::FlopsPerSecond>, hardware::compute_type_count> peaks;
  Ridges ridges;
};

/// From one device of a line to the next, in one type. Ratios are new ÷ old.
struct TrendStep {
  std::string line, from, to;
  hardware::ComputeType type = hardware::ComputeType::bf16;
  double peak_ratio = 1, bandwidth_ratio = 1, ridge_from = 0, ridge_to = 0;
  [[nodiscard]] bool ridge_fell() const { return ridge_to < ridge_from; }
};

struct TrendLine {
  std::string name;
  std::vector<TrendPoint> points;
};

struct DeviceTrend {
  std::vector<TrendLine> lines;
  std::vector<TrendStep> steps;  ///< in the order of lines, devices and types
};

/// Every device of the catalogue, GPUs first, then by vendor and year. `vendor` filters, in any case ("nvidia"); an
/// unknown one fails and names those there are.
[[nodiscard]] Result<DeviceList> list_devices(const Assets& assets, std::string_view vendor = {});

/// One device by any name find_device knows.
[[nodiscard]] Result<DeviceDetail> describe_device(const Assets& assets, std::string_view name);

/// The product lines V100 → B200, RTX 3090 → 5090 and MI250X → MI355X. bf16 is fp16 on a device that lacks it.
[[nodiscard]] Result<DeviceTrend> device_trend(const Assets& assets);

}  // namespace corridor::app
