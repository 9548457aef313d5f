// SPDX-License-Identifier: Apache-2.0
// The time model of DESIGN §4.2, one operation at a time.
#include "corridor/roofline/op_time.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace corridor::roofline {
namespace {

using graph::Op;
using graph::OpKind;
using hardware::ComputeType;
using units::Bytes;
using units::Seconds;

double p_norm(double a, double b, double p) {
  const double larger = std::max(a, b);
  if (larger <= 0) return 0;
  if (p >= 64) return larger;  // beyond this the sum differs from the maximum by less than 1 %
  const double ratio = std::min(a, b) / larger;
  return larger * std::pow(1 + std::pow(ratio, p), 1 / p);
}

/// Reachable bytes/s for one transfer of `size`: rises from zero to fraction × peak, half-way at `half`.
Seconds memory_time(Bytes size, double fraction, double half, const hardware::Device& device) {
  if (size.value() <= 0) return Seconds{0};
  return Bytes{size.value() + half} / (device.memory_bandwidth->value * fraction);
}

double tiles_fill(double extent, double tile) {
  return extent / (std::ceil(extent / tile) * tile);
}

/// Share of the compute peak a product of this shape can reach: tile and wave quantisation, and depth.
double shape_efficiency(const Op& op, const ProductConstants& c, double sm_count) {
  // Engines choose smaller tiles, or vector kernels, for few rows.
  const double tile_m = std::min(std::exp2(std::ceil(std::log2(std::max(1.0, op.m)))), c.tile_m);
  double efficiency = tiles_fill(op.m, tile_m) * tiles_fill(op.n, c.tile_n);
  if (sm_count > 0) {
    const double waves = std::ceil(op.m / tile_m) * std::ceil(op.n / c.tile_n) / sm_count;
    // Below one wave engines split the depth over idle SMs, so only full waves are quantised.
    if (waves > 1) efficiency *= waves / std::ceil(waves);
  }
  return c.compute_fraction * efficiency * op.k / (op.k + c.k_half);
}

const ProductConstants& product_constants(const KernelConstants& constants, const Arithmetic& arithmetic,
                                          const Op& op) {
  if (op.kind == OpKind::moe) {
    const double bits = op.format.bits_per_weight;
    return bits > 12 ? constants.moe : bits > 6 ? constants.moe_fp8 : constants.moe_fp4;
  }
  if (arithmetic.unpacks) return constants.weight_only;
  switch (arithmetic.type) {
    case ComputeType::fp8:
    case ComputeType::fp6:
      return op.format.name == "fp8-block" ? constants.fp8_block : constants.fp8;
    case ComputeType::fp4:
    case ComputeType::int4:
      return constants.fp4;
    case ComputeType::int8:
      return constants.int8;
    default:
      return constants.bf16;
  }
}

/// A CPU unpacks quantised weights on the same cores that multiply: this time adds to both others. Zero elsewhere.
Seconds unpack_time(const Op& op, const TimingContext& context, const Arithmetic& arithmetic) {
  const std::map<std::string, double>& rates = context.constants.unpack_bytes_per_s_per_core;
  if (!arithmetic.unpacks || rates.empty() || !context.device.sm.count) return Seconds{0};
  const auto own = rates.find(op.format.name);
  const auto nearest = rates.find(op.format.bits_per_weight > 6 ? "q8_0" : "q4_k");
  const double rate = own != rates.end()       ? own->second
                      : nearest != rates.end() ? nearest->second
                                               : rates.begin()->second;
  return Seconds{op.weights.value() / (rate * context.device.sm.count->value)};
}

void time_product(const Op& op, const TimingContext& context, OpTime& time) {
  const ProductConstants& c = product_constants(context.constants, time.arithmetic, op);
  const double sms = context.device.sm.count ? context.device.sm.count->value : 0;
  const double launches = op.kind == OpKind::moe ? 1 : op.kernels;  // the moe floor covers its whole block
  time.floor = Seconds{c.t0_s * launches};
  time.memory = memory_time(op.bytes(), c.bandwidth_fraction, c.half_size_bytes, context.device);
  // Grouped products are fitted as a whole, their tile losses inside the fraction.
  const double efficiency = op.kind == OpKind::moe ? c.compute_fraction : shape_efficiency(op, c, sms);
  time.compute =
      op.flops / (time.arithmetic.peak * std::max(1e-6, efficiency)) + unpack_time(op, context, time.arithmetic);
  time.expected = time.floor + Seconds{p_norm(time.memory.value(), time.compute.value(), c.p_norm)};
}

void time_decode_attention(const Op& op, const TimingContext& context, OpTime& time) {
  const AttentionDecodeConstants& c =
      op.format.bits_per_weight > 12 ? context.constants.attention_decode : context.constants.attention_decode_fp8;
  // The constant is the floor of the whole fused block; an unfused one pays the element-wise floor for each more
  // launch.
  const double t0_s = context.attention_decode_t0_s > 0 ? context.attention_decode_t0_s : c.t0_s;
  time.floor = Seconds{t0_s + (op.kernels - 1) * context.constants.elementwise.t0_s};
  time.memory = memory_time(op.kv + op.activations, c.bandwidth_fraction, c.half_size_bytes, context.device);
  time.compute = op.flops / (time.arithmetic.peak * c.compute_fraction);
  time.expected = time.floor + Seconds{p_norm(time.memory.value(), time.compute.value(), c.p_norm)};
}

void time_prefill_attention(const Op& op, const TimingContext& context, OpTime& time) {
  const AttentionPrefillConstants& c = context.constants.attention_prefill;
  time.floor = Seconds{c.t0_s + (op.kernels - 1) * context.constants.elementwise.t0_s};
  const double length = op.m / std::max(1.0, op.sequences);
  const double fraction = op.format.bits_per_weight > 12 ? c.compute_fraction : c.compute_fraction_fp8;
  const double efficiency = fraction * length / (length + c.half_length_tokens);
  time.memory = memory_time(op.kv + op.activations, c.bandwidth_fraction, 0, context.device);
  time.compute = op.flops / (time.arithmetic.peak * std::max(1e-6, efficiency));
  time.expected = time.floor + Seconds{p_norm(time.memory.value(), time.compute.value(), c.p_norm)};
}

/// The smallest measured group that holds `ranks`, else the largest measured.
const AllReduceConstants& for_ranks(const std::vector<AllReduceConstants>& measured, double ranks) {
  for (const AllReduceConstants& c : measured) {
    if (c.ranks >= ranks) return c;
  }
  return measured.back();
}

Seconds all_reduce_time(const Op& op, const TimingContext& context, units::BytesPerSecond rate) {
  const KernelConstants& constants = context.constants;
  const AllReduceConstants& c = for_ranks(constants.all_reduce, op.ranks);
  const double n = op.ranks;
  const double captured = context.fused_all_reduce ? c.latency_fused_s : c.latency_graph_s;
  const double latency = context.graphs ? captured : c.latency_eager_s;
  if (op.payload.value() <= c.one_shot_max_bytes) {
    return Seconds{latency} + op.payload * (n - 1) / (rate * c.bandwidth_fraction);
  }
  const double ring = 2 * (n - 1) / n;
  if (op.payload.value() <= constants.custom_all_reduce_max_bytes) {
    return Seconds{latency + c.two_shot_extra_s} + op.payload * ring / (rate * c.two_shot_bandwidth_fraction);
  }
  return Seconds{c.ring_latency_s + (context.graphs ? 0 : c.latency_eager_s - c.latency_graph_s)} +
         Bytes{op.payload.value() + c.ring_half_size_bytes} * ring / (rate * c.ring_bandwidth_fraction);
}

/// Bytes that leave one device, as a multiple of the payload.
double traffic_factor(graph::Collective collective, double ranks) {
  switch (collective) {
    case graph::Collective::all_reduce:
      return 2 * (ranks - 1) / ranks;
    case graph::Collective::all_gather:
      return ranks - 1;  // the payload is one rank's part
    case graph::Collective::all_to_all:
      return (ranks - 1) / ranks;
    case graph::Collective::send_recv:
      return 1;
    case graph::Collective::none:
      break;
  }
  return 0;
}

units::BytesPerSecond link_rate(const Op& op, const TimingContext& context) {
  const hardware::Device& device = context.device;
  if (op.crosses_node) return units::BytesPerSecond{context.constants.network_bytes_per_s};
  if (device.link.bandwidth_per_direction) return device.link.bandwidth_per_direction->value;
  if (device.pcie.bandwidth_per_direction) return device.pcie.bandwidth_per_direction->value;
  return units::BytesPerSecond{context.constants.network_bytes_per_s};
}

void time_collective(const Op& op, const TimingContext& context, OpTime& time) {
  const KernelConstants& constants = context.constants;
  const units::BytesPerSecond rate = link_rate(op, context);
  const double factor = traffic_factor(op.collective, op.ranks);
  // No algorithm moves less than (n−1)/n of the buffer over a device's link; reduction in the switch comes close.
  const double least = op.collective == graph::Collective::all_reduce ? factor / 2 : factor;
  time.limit_link = op.payload * least / rate;
  if (op.crosses_node) {
    const TransferConstants& c = constants.network;
    time.transfer =
        Seconds{c.latency_s} + Bytes{op.payload.value() + c.half_size_bytes} * factor / (rate * c.bandwidth_fraction);
  } else if (op.collective == graph::Collective::all_reduce) {
    time.transfer = all_reduce_time(op, context, rate);
  } else {
    const TransferConstants& c = op.collective == graph::Collective::all_gather   ? constants.all_gather
                                 : op.collective == graph::Collective::all_to_all ? constants.all_to_all
                                                                                  : constants.send_recv;
    time.transfer =
        Seconds{c.latency_s} + Bytes{op.payload.value() + c.half_size_bytes} * factor / (rate * c.bandwidth_fraction);
  }
  time.expected = time.transfer;
  time.bound = Bound::interconnect;
}

void time_small(const Op& op, const TimingContext& context, OpTime& time) {
  const ElementwiseConstants& c = context.constants.elementwise;
  time.floor = Seconds{c.t0_s * op.kernels};
  time.memory = memory_time(op.bytes(), c.bandwidth_fraction, c.half_size_bytes, context.device);
  time.expected = time.floor + time.memory;
}

/// Bytes no software avoids: weights (k experts) and KV. Activations can stay on the chip when operations are fused or
/// tiled, and a split over devices makes them smaller, so a limit that counted them could be beaten.
Bytes least_bytes(const Op& op) {
  return op.weights_least + op.kv;
}

}  // namespace

std::string_view name(Bound bound) {
  switch (bound) {
    case Bound::memory:
      return "memory";
    case Bound::compute:
      return "compute";
    case Bound::launch:
      return "launch";
    case Bound::interconnect:
      return "interconnect";
  }
  return "";
}

Result<Arithmetic> arithmetic_of(const hardware::Device& device, const model::WeightFormat& format,
                                 std::optional<ComputeType> math) {
  const auto with_peak = [&](ComputeType type, bool unpacks) -> Result<Arithmetic> {
    const auto& peak = device.peak(type);
    if (!peak) return fail("device states no peak for " + std::string(hardware::name(type)), device.id);
    return Arithmetic{type, peak->value, unpacks};
  };
  if (math) {
    if (device.peak(*math))
      return with_peak(*math, format.bits_per_weight < 12 && *math != ComputeType::fp8 && *math != ComputeType::fp4 &&
                                  *math != ComputeType::int8);
    return fail("device has no " + std::string(hardware::name(*math)) + " arithmetic", device.id,
                "leave --math out or choose a type `corridor devices " + device.id + "` lists");
  }
  const std::optional<ComputeType> own = hardware::compute_type_from(format.compute);
  if (own && format.compute_class == model::ComputeClass::own && device.peak(*own)) return with_peak(*own, false);
  // fp8 weights on a device without fp8 and fp4 without fp4 are unpacked to 16 bit by every engine considered.
  const bool narrow = format.bits_per_weight < 12;
  const ComputeType wide = !narrow && own ? *own : ComputeType::bf16;
  const std::optional<ComputeType> type = hardware::executed_type(device, wide);
  if (!type) return fail("device states no arithmetic peak", device.id, "use a device file that has [peaks]");
  return with_peak(*type, narrow);
}

namespace {

bool is_product(const Op& op) {
  return op.kind == OpKind::product || op.kind == OpKind::moe;
}

Result<Arithmetic> arithmetic_of_op(const Op& op, const TimingContext& context) {
  return arithmetic_of(context.device, op.format, is_product(op) ? context.math : std::nullopt);
}

/// Activations are quantised by a kernel of their own only for products that run in a narrow type.
bool quantises_for_nothing(const TimingContext& context, const Arithmetic& arithmetic) {
  return context.fused_quantise || arithmetic.unpacks || arithmetic.type == ComputeType::bf16 ||
         arithmetic.type == ComputeType::fp16;
}

}  // namespace

Result<bool> op_exists(const Op& op, const TimingContext& context) {
  if (op.kind == OpKind::collective) return true;
  const Result<Arithmetic> arithmetic = arithmetic_of_op(op, context);
  if (!arithmetic) return tl::unexpected(arithmetic.error());
  return op.kind != OpKind::quantise || !quantises_for_nothing(context, *arithmetic);
}

Result<OpTime> time_op(const Op& op, const TimingContext& context) {
  OpTime time;
  if (op.kind == OpKind::collective) {
    time_collective(op, context, time);
    return time;
  }
  Result<Arithmetic> arithmetic = arithmetic_of_op(op, context);
  if (!arithmetic) return tl::unexpected(arithmetic.error());
  time.arithmetic = *arithmetic;
  if (op.kind == OpKind::quantise && quantises_for_nothing(context, time.arithmetic)) {
    time.skipped = true;
    return time;
  }
  time.limit_memory = least_bytes(op) / context.device.memory_bandwidth->value;
  time.limit_compute = op.flops / time.arithmetic.peak;
  switch (op.kind) {
    case OpKind::product:
    case OpKind::moe:
      time_product(op, context, time);
      break;
    case OpKind::attention_decode:
      time_decode_attention(op, context, time);
      break;
    case OpKind::attention_prefill:
      time_prefill_attention(op, context, time);
      break;
    default:
      time_small(op, context, time);
      break;
  }
  time.bound = time.compute > time.memory ? Bound::compute : Bound::memory;
  if (time.floor > std::max(time.compute, time.memory)) time.bound = Bound::launch;
  return time;
}

}  // namespace corridor::roofline
