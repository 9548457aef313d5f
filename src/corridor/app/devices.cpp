// SPDX-License-Identifier: Apache-2.0
// Builds the list, the detail and the trend of devices from the catalogue.
#include "corridor/app/devices.h"

#include <algorithm>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "corridor/base/lower.h"
#include "corridor/hardware/catalogue.h"

namespace corridor::app {
namespace {

using hardware::ComputeType;
using hardware::Device;

Ridges ridges_of(const Device& device) {
  Ridges ridges;
  for (std::size_t i = 0; i < ridges.size(); ++i) {
    ridges[i] = hardware::ridge_point(device, static_cast<ComputeType>(i));
  }
  return ridges;
}

template <class T>
std::optional<T> value_of(const hardware::MaybeFact<T>& fact) {
  return fact ? std::optional<T>(fact->value) : std::nullopt;
}

std::optional<double> times_sms(const Device& device, const hardware::MaybeFact<double>& per_sm) {
  if (!device.sm.count || !per_sm) return std::nullopt;
  return device.sm.count->value * per_sm->value;
}

DeviceSummary summary_of(const Device& device) {
  DeviceSummary out;
  out.id = device.id;
  out.name = device.name;
  out.vendor = device.vendor;
  out.family = device.family;
  out.form_factor = device.form_factor;
  out.memory_type = device.memory_type;
  out.kind = device.kind;
  out.year = value_of(device.year);
  out.memory = value_of(device.memory_capacity);
  out.bandwidth = value_of(device.memory_bandwidth);
  out.ridges = ridges_of(device);
  out.threads_resident = times_sms(device, device.sm.max_threads);
  out.lanes_per_clock = times_sms(device, device.sm.lanes_fp32_per_clock);
  out.board_power_w = value_of(device.board_power_w);
  out.warning = device.warning;
  return out;
}

/// Collects the facts of a device in reading order.
class FactList {
 public:
  template <class T>
  void add(std::string key, std::string label, std::string_view unit, const hardware::MaybeFact<T>& fact) {
    if (!fact) return;
    rows_.push_back({std::move(key), std::move(label), number(fact->value), unit, fact->basis, fact->source, fact->date,
                     fact->note});
  }
  [[nodiscard]] std::vector<FactRow> take() { return std::move(rows_); }

 private:
  static double number(double value) { return value; }
  template <class Quantity>
  static double number(const Quantity& value) {
    return value.value();
  }
  std::vector<FactRow> rows_;
};

void add_general(const Device& d, FactList& facts) {
  facts.add("general.year", "year", "", d.year);
  facts.add("general.board_power_w", "board power", "W", d.board_power_w);
  facts.add("general.clock_base_hz", "base clock", "Hz", d.clock_base);
  facts.add("general.clock_boost_hz", "boost clock", "Hz", d.clock_boost);
  facts.add("reachable.bandwidth_bytes_per_s", "bandwidth reached", "B/s", d.reachable_bandwidth);
  facts.add("reachable.bf16_flop_per_s", "bf16 product reached", "FLOP/s", d.reachable_bf16);
  for (std::size_t i = 0; i < d.peaks.size(); ++i) {
    const std::string_view type = name(static_cast<ComputeType>(i));
    const bool integer = type.starts_with("int");
    facts.add(fmt::format("peaks.{}_{}", type, integer ? "op_per_s" : "flop_per_s"), fmt::format("{} peak", type),
              "FLOP/s", d.peaks[i]);
  }
}

void add_sm(const hardware::SmLimits& sm, FactList& facts) {
  facts.add("sm.count", "multiprocessors", "", sm.count);
  facts.add("sm.lanes_fp32_per_clock", "FP32 lanes each", "", sm.lanes_fp32_per_clock);
  facts.add("sm.schedulers", "schedulers each", "", sm.schedulers);
  facts.add("sm.warp_size", "threads a warp", "", sm.warp_size);
  facts.add("sm.max_threads", "threads resident each", "", sm.max_threads);
  facts.add("sm.max_warps", "warps resident each", "", sm.max_warps);
  facts.add("sm.max_blocks", "blocks resident each", "", sm.max_blocks);
  facts.add("sm.max_threads_per_block", "threads a block", "", sm.max_threads_per_block);
  facts.add("sm.registers_bytes", "registers each", "B", sm.registers);
  facts.add("sm.shared_per_block_bytes", "shared memory a block", "B", sm.shared_per_block);
  facts.add("sm.shared_per_sm_bytes", "shared memory each", "B", sm.shared_per_sm);
  facts.add("sm.l1_shared_bytes", "L1 and shared each", "B", sm.l1_shared);
}

void add_ladder(const Device& d, FactList& facts) {
  for (std::size_t i = 0; i < d.ladder.size(); ++i) {
    const hardware::MemoryLevel& level = d.ladder[i];
    const std::string table = i + 1 == d.ladder.size() ? "memory" : "ladder." + level.name;
    facts.add(table + ".capacity_bytes", level.name + " capacity", "B", level.capacity);
    facts.add(table + ".bandwidth_bytes_per_s", level.name + " bandwidth", "B/s", level.bandwidth);
    facts.add(table + ".latency_s", level.name + " latency", "s", level.latency);
  }
}

std::vector<FactRow> facts_of(const Device& device) {
  FactList facts;
  add_ladder(device, facts);
  add_general(device, facts);
  add_sm(device.sm, facts);
  const auto link = [&](std::string_view table, const hardware::Link& l) {
    const std::string kind = l.kind.empty() ? std::string(table) : l.kind;
    facts.add(fmt::format("{}.bandwidth_per_direction_bytes_per_s", table), kind + " one way", "B/s",
              l.bandwidth_per_direction);
    facts.add(fmt::format("{}.devices_in_node", table), kind + " devices in a node", "", l.devices_in_node);
  };
  link("link", device.link);
  link("pcie", device.pcie);
  return facts.take();
}

/// Order of the list: what holds models first, then makers, then age.
auto order_of(const DeviceSummary& s) {
  return std::make_tuple(s.kind == hardware::DeviceKind::cpu, lower(s.vendor), s.year.value_or(9999), s.id);
}

struct Line {
  std::string_view name;
  std::span<const std::string_view> ids;
};
constexpr std::string_view data_center[] = {"v100-sxm-32", "a100-sxm-80", "h100-sxm", "h200", "b200"};
constexpr std::string_view desktop[] = {"rtx-3090", "rtx-4090", "rtx-5090"};
constexpr std::string_view instinct[] = {"mi250x", "mi300x", "mi325x", "mi355x"};
constexpr Line lines[] = {{"NVIDIA data centre", data_center}, {"NVIDIA GeForce", desktop}, {"AMD Instinct", instinct}};
constexpr ComputeType trend_types[] = {ComputeType::fp32, ComputeType::bf16, ComputeType::fp8, ComputeType::fp4,
                                       ComputeType::int8};

TrendPoint point_of(const Device& device) {
  TrendPoint point{device.id, device.name,      value_of(device.year), value_of(device.memory_bandwidth),
                   {},        ridges_of(device)};
  for (std::size_t i = 0; i < point.peaks.size(); ++i) point.peaks[i] = value_of(device.peaks[i]);
  const auto bf16 = static_cast<std::size_t>(ComputeType::bf16);
  const auto fp16 = static_cast<std::size_t>(ComputeType::fp16);
  if (!point.peaks[bf16]) {
    point.peaks[bf16] = point.peaks[fp16];
    point.ridges[bf16] = point.ridges[fp16];
  }
  return point;
}

void add_steps(const TrendLine& line, std::vector<TrendStep>& steps) {
  for (std::size_t i = 1; i < line.points.size(); ++i) {
    const TrendPoint& old = line.points[i - 1];
    const TrendPoint& now = line.points[i];
    for (const ComputeType type : trend_types) {
      const auto t = static_cast<std::size_t>(type);
      if (!old.ridges[t] || !now.ridges[t] || !old.bandwidth || !now.bandwidth) continue;
      steps.push_back({line.name, old.id, now.id, type, *now.peaks[t] / *old.peaks[t], *now.bandwidth / *old.bandwidth,
                       old.ridges[t]->value(), now.ridges[t]->value()});
    }
  }
}

Result<Device> load(const Assets& assets, std::string_view id) {
  Result<hardware::ResolvedDevice> found = hardware::find_device(assets, id);
  if (!found) return tl::unexpected(found.error());
  return std::move(found->device);
}

}  // namespace

Result<DeviceList> list_devices(const Assets& assets, std::string_view vendor) {
  DeviceList list{std::string(vendor), {}};
  std::set<std::string> vendors;
  for (const std::string& path : assets.list("devices")) {
    const Result<std::string_view> text = assets.read(path);
    if (!text) return tl::unexpected(text.error());
    const Result<Device> device = hardware::parse_device(*text, path);
    if (!device) return tl::unexpected(device.error());
    vendors.insert(device->vendor);
    if (vendor.empty() || lower(device->vendor) == lower(vendor)) list.devices.push_back(summary_of(*device));
  }
  if (list.devices.empty()) {
    std::string known;
    for (const std::string& name : vendors) known += (known.empty() ? "" : ", ") + name;
    return fail(fmt::format("no device of vendor \"{}\"", vendor.substr(0, 80)), "--vendor", "vendors are " + known);
  }
  std::sort(list.devices.begin(), list.devices.end(),
            [](const DeviceSummary& a, const DeviceSummary& b) { return order_of(a) < order_of(b); });
  return list;
}

Result<DeviceDetail> describe_device(const Assets& assets, std::string_view name) {
  Result<hardware::ResolvedDevice> found = hardware::find_device(assets, name);
  if (!found) return tl::unexpected(found.error());
  DeviceDetail detail{std::move(found->device), std::move(found->note), {}, {}};
  detail.ridges = ridges_of(detail.device);
  detail.facts = facts_of(detail.device);
  return detail;
}

Result<DeviceTrend> device_trend(const Assets& assets) {
  DeviceTrend trend;
  for (const Line& line : lines) {
    TrendLine out{std::string(line.name), {}};
    for (const std::string_view id : line.ids) {
      const Result<Device> device = load(assets, id);
      if (!device) return tl::unexpected(device.error());
      out.points.push_back(point_of(*device));
    }
    add_steps(out, trend.steps);
    trend.lines.push_back(std::move(out));
  }
  return trend;
}

}  // namespace corridor::app
