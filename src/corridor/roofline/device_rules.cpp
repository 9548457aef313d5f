// SPDX-License-Identifier: Apache-2.0
// Reachable figures, memory kind, board power, launch floor, cache rate.
#include "corridor/roofline/device_rules.h"

#include <algorithm>
#include <array>
#include <optional>

namespace corridor::roofline {
namespace {

std::array<ProductConstants*, 9> products(KernelConstants& c) {
  return {&c.bf16, &c.fp8, &c.fp8_block, &c.fp4, &c.int8, &c.weight_only, &c.moe, &c.moe_fp8, &c.moe_fp4};
}

void scale_bandwidth(double ratio, KernelConstants& c) {
  const auto scale = [ratio](double& fraction) { fraction = std::min(1.0, fraction * ratio); };
  for (ProductConstants* p : products(c)) scale(p->bandwidth_fraction);
  scale(c.attention_decode.bandwidth_fraction);
  scale(c.attention_decode_fp8.bandwidth_fraction);
}

void scale_compute(double ratio, KernelConstants& c) {
  for (ProductConstants* p : products(c)) p->compute_fraction = std::min(1.0, p->compute_fraction * ratio);
}

/// Share of the datasheet bandwidth that a plain read reaches: the device's own figure, else its memory's kind.
std::optional<double> stream_fraction(const hardware::Device& device, const ConstantFile& file, bool by_kind) {
  if (device.reachable_bandwidth) {
    return std::min(1.0, device.reachable_bandwidth->value / device.memory_bandwidth->value);
  }
  if (!by_kind) return std::nullopt;
  // The longest kind that the name of the memory begins with: "HBM2e" before "HBM2".
  const std::string table = "memory_fraction.";
  std::optional<double> found;
  std::size_t longest = 0;
  for (auto i = file.values.lower_bound(table); i != file.values.end() && i->first.starts_with(table); ++i) {
    const std::string kind = i->first.substr(table.size());
    if (device.memory_type.starts_with(kind) && kind.size() > longest) {
      longest = kind.size();
      found = i->second.value;
    }
  }
  return found;
}

void apply_bandwidth(const hardware::Device& device, const ConstantFile& file, bool own, KernelConstants& c) {
  if (!device.memory_bandwidth || (c.measured && !own)) return;
  const std::optional<double> stream = stream_fraction(device, file, c.device_class == "default");
  if (!stream || c.bf16.bandwidth_fraction <= 0) return;
  const double product = *stream * file.number("rule.product_of_stream").value_or(1);
  scale_bandwidth(product / c.bf16.bandwidth_fraction, c);
}

/// The best product seen, else what the board's power allows. A class that was measured keeps its own fraction, but a
/// board of it with less power (a PCIe card beside the SXM module) is held to that.
void apply_peak(const hardware::Device& device, const ConstantFile& file, bool own, KernelConstants& c) {
  const auto& peak = device.peak(hardware::ComputeType::bf16);
  if (!peak || c.bf16.compute_fraction <= 0) return;
  if (device.reachable_bf16 && (own || !c.measured)) {
    const double best = std::min(1.0, device.reachable_bf16->value / peak->value);
    scale_compute(best / c.bf16.compute_fraction, c);
    return;
  }
  const double flop_per_joule = file.number("rule.flop_per_joule").value_or(0);
  if (flop_per_joule <= 0 || !device.board_power_w) return;
  const double powered = device.board_power_w->value * flop_per_joule / peak->value.value();
  if (powered < c.bf16.compute_fraction) scale_compute(powered / c.bf16.compute_fraction, c);
}

/// Floors move by as many launches as their operation has.
void apply_launch_floor(const hardware::Device& device, KernelConstants& c) {
  if (!device.launch_floor || device.launch_floor->value.value() <= 0) return;
  const double floor = device.launch_floor->value.value();
  const double moved = floor - c.bf16.t0_s;
  const auto shift = [&](double& t0_s, double launches) { t0_s = std::max(floor, t0_s + moved * launches); };
  for (ProductConstants* p : {&c.moe, &c.moe_fp8, &c.moe_fp4}) shift(p->t0_s, 6);
  for (ProductConstants* p : {&c.fp8, &c.fp8_block, &c.fp4, &c.int8, &c.weight_only, &c.bf16}) shift(p->t0_s, 1);
  shift(c.attention_decode.t0_s, 2);
  shift(c.attention_decode_fp8.t0_s, 2);
  shift(c.attention_prefill.t0_s, 2);
  shift(c.attention_prefill.t0_fp8_s, 2);
  shift(c.elementwise.t0_s, 1);
}

/// Where the class has no rate of its own cache, a share of what the catalogue says of the device's.
void apply_cache(const hardware::Device& device, const ConstantFile& file, KernelConstants& c) {
  if (c.cache.bytes_per_s > 0) return;
  double rate = 0;
  for (const hardware::MemoryLevel& level : device.ladder) {
    if (level.reach == "device" && level.bandwidth && &level != &device.ladder.back()) {
      rate = level.bandwidth->value.value();
    }
  }
  c.cache.bytes_per_s = rate * file.number("rule.cache_rate_fraction").value_or(0);
}

/// Latency × bandwidth: the size that reaches half the rate grows with the bandwidth of the device.
void scale_half_sizes(const hardware::Device& device, double reference_bandwidth, KernelConstants& c) {
  if (!device.memory_bandwidth || reference_bandwidth <= 0) return;
  const double ratio = device.memory_bandwidth->value.value() / reference_bandwidth;
  for (ProductConstants* p : products(c)) p->half_size_bytes *= ratio;
  c.attention_decode.half_size_bytes *= ratio;
  c.attention_decode_fp8.half_size_bytes *= ratio;
  c.elementwise.half_size_bytes *= ratio;
}

}  // namespace

void apply_device_rules(const hardware::Device& device, const ConstantFile& file, KernelConstants& c) {
  // Only a measurement of this very machine writes a launch floor; its reachable figures are then its own too.
  const bool own = device.launch_floor.has_value();
  scale_half_sizes(device, file.number("reference_bandwidth").value_or(0), c);
  apply_bandwidth(device, file, own, c);
  apply_peak(device, file, own, c);
  apply_launch_floor(device, c);
  apply_cache(device, file, c);
}

}  // namespace corridor::roofline
