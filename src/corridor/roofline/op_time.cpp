// SPDX-License-Identifier: Apache-2.0
// The time model of DESIGN §4.2, one operation at a time.
#include "corridor/roofline/op_time.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "corridor/roofline/collective_time.h"
#include "corridor/roofline/resident_share.h"

namespace corridor::roofline {
namespace {

using graph::Op;
using graph::OpKind;
using hardware::ComputeType;
using units::Bytes;
using units::Seconds;

/// Keys from which decode attention is cut along the sequence.
constexpr double split_tokens = 192;

double p_norm(double a, double b, double p) {
  const double larger = std::max(a, b);
  if (larger <= 0) return 0;
  if (p >= 64) return larger;  // beyond this the sum differs from the maximum by less than 1 %
  const double ratio = std::min(a, b) / larger;
  return larger * std::pow(1 + std::pow(ratio, p), 1 / p);
}

/// Bytes an operation reads and writes: those it reads again when a benchmark repeats it, and the others.
struct Traffic {
  double repeated = 0;  ///< weights, KV
  double passing = 0;   ///< activations
};

/// The last cache before main memory, in bytes.
double last_cache(const hardware::Device& device) {
  double largest = 0;
  for (std::size_t i = 0; i + 1 < device.ladder.size(); ++i) {
    if (device.ladder[i].reach != "device" && device.ladder.size() > 2) continue;
    if (const auto& capacity = device.ladder[i].capacity) largest = std::max(largest, capacity->value.value());
  }
  return largest;
}

/// Time to move bytes: the rate rises from zero to fraction × peak, half-way at `half` bytes. Where a benchmark repeats
/// the operation, the share that is still in the last cache comes at that cache's rate.
Seconds memory_time(const Traffic& traffic, double fraction, double half, const TimingContext& context) {
  const double bytes = traffic.repeated + traffic.passing;
  if (bytes <= 0) return Seconds{0};
  const units::BytesPerSecond rate = context.device.memory_bandwidth->value * fraction;
  if (context.repeated_copies <= 0) return Bytes{bytes + half} / rate;
  const CacheConstants& c = context.constants.cache;
  const double usable = c.usable_fraction * last_cache(context.device);
  const double kept = bytes * resident_share(traffic.repeated * context.repeated_copies + traffic.passing, usable);
  const double cache_rate = std::max(c.bytes_per_s, rate.value());
  return Bytes{bytes - kept + half} / rate + Seconds{kept / cache_rate};
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
    // Below one wave some kernels split the depth over idle SMs, so only full waves are quantised in full.
    efficiency *= waves > 1 ? waves / std::ceil(waves) : std::pow(waves, c.idle_exponent);
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

/// Weights that the device with most of the chosen experts reads, where experts are spread over several: a step waits
/// for it. Counts scatter around their mean by about its root; the largest of n lies √(2 ln n) of those above it.
double slowest_rank_weights(const Op& op) {
  const double own = op.weights_least.value() * 8 / op.format.bits_per_weight;  // elements of k experts, on this device
  const double whole = 1.5 * op.k * op.n * std::min(op.expert_count, op.experts_per_token);
  if (own <= 0 || op.weights_least.value() <= 0) return op.weights.value();
  const double ranks = std::round(whole / own);
  if (ranks <= 1) return op.weights.value();
  const double mean = op.weights / op.weights_least * std::min(op.expert_count, op.experts_per_token) / ranks;
  const double most = std::min(mean + std::sqrt(2 * mean * std::log(ranks)), op.expert_count / ranks);
  return op.weights.value() * std::max(1.0, most / mean);
}

/// Bytes that the kernels around grouped products move: each token is copied to its experts, the results are written,
/// read again and added up. Neither cut makes the hidden-wide buffers smaller: a rank that holds few of the experts, or
/// a slice of each, still fills and sums one row a token and choice.
double expert_activations(const Op& op) {
  const double own_weights = op.weights_least.value() * 8 / op.format.bits_per_weight;  // of k experts, on this device
  if (own_weights <= 0 || op.experts_per_token <= 0) return op.activations.value();
  const double rows = op.flops.value() * op.experts_per_token / (2 * own_weights);  // tokens × experts a token
  const double tokens = rows / op.experts_per_token;
  constexpr double bytes = 2;
  constexpr double hidden_passes = 2;  // written by the second product, read by the sum
  constexpr double inner_passes = 3;   // gate and up written and read, their product (half as wide) written and read
  return bytes * (2 * tokens * op.k + rows * (hidden_passes * op.k + inner_passes * op.n));
}

void time_product(const Op& op, const TimingContext& context, OpTime& time) {
  const ProductConstants& c = product_constants(context.constants, time.arithmetic, op);
  const double sms = context.device.sm.count ? context.device.sm.count->value : 0;
  const bool experts = op.kind == OpKind::moe;
  const double launches = experts ? 1 : op.kernels;  // the moe floor covers its whole block
  time.floor = Seconds{c.t0_s * launches};
  const Traffic traffic{experts ? slowest_rank_weights(op) : op.weights.value(),
                        experts ? expert_activations(op) : op.activations.value()};
  time.memory = memory_time(traffic, c.bandwidth_fraction, c.half_size_bytes, context);
  // Grouped products are fitted as a whole, their tile losses inside the fraction.
  const double efficiency = experts ? c.compute_fraction : shape_efficiency(op, c, sms);
  time.compute =
      op.flops / (time.arithmetic.peak * std::max(1e-6, efficiency)) + unpack_time(op, context, time.arithmetic);
  time.expected = time.floor + Seconds{p_norm(time.memory.value(), time.compute.value(), c.p_norm)};
}

/// What decode attention is cut into: one block of threads a sequence and KV head. Recovered from the operation's own
/// numbers: keys a query sees, then KV heads (half as many for a latent, which is key and value at once).
double decode_blocks(const Op& op, double& visible) {
  visible = 0;
  if (op.n <= 0 || op.k <= 0 || op.m <= 0 || op.sequences <= 0) return 0;  // a recurrent state has no keys
  visible = op.flops.value() / (2 * op.n * op.k * op.m);
  const double row = op.k * op.format.bits_per_weight / 8;  // key and value of one head
  const double kv_heads = op.kv.value() / (op.sequences * (visible + 1) * row);
  return op.sequences * std::clamp(kv_heads, 1.0, op.n);
}

void time_decode_attention(const Op& op, const TimingContext& context, OpTime& time) {
  const AttentionDecodeConstants& c =
      op.format.bits_per_weight > 12 ? context.constants.attention_decode : context.constants.attention_decode_fp8;
  const double sms = context.device.sm.count ? context.device.sm.count->value : 0;
  double visible = 0;
  const double blocks = decode_blocks(op, visible);
  // Few long sequences are split over idle SMs; a second kernel, or a second phase, then joins the parts.
  const double split = blocks > 0 && blocks < sms && visible >= split_tokens ? c.split_extra_s : 0;
  // The constant is the floor of the whole fused block; an unfused one pays the element-wise floor for each more
  // launch.
  const double t0_s = context.attention_decode_t0_s > 0 ? context.attention_decode_t0_s : c.t0_s + split;
  time.floor = Seconds{t0_s + (op.kernels - 1) * context.constants.elementwise.t0_s};
  const Seconds bytes =
      memory_time({op.kv.value(), op.activations.value()}, c.bandwidth_fraction, c.half_size_bytes, context);
  // However short its sequence, a block takes the time of one tile.
  const double tiles_s = sms > 0 ? blocks / sms * c.tile_s : 0;
  time.memory = Seconds{p_norm(bytes.value(), tiles_s, c.tile_p_norm)};
  time.compute = op.flops / (time.arithmetic.peak * c.compute_fraction);
  time.expected = time.floor + Seconds{p_norm(time.memory.value(), time.compute.value(), c.p_norm)};
}

/// Rows of queries one block of prompt attention works on.
constexpr double prefill_tile_rows = 128;

void time_prefill_attention(const Op& op, const TimingContext& context, OpTime& time) {
  const AttentionPrefillConstants& c = context.constants.attention_prefill;
  const bool narrow = op.format.bits_per_weight <= 12;
  const double sms = context.device.sm.count ? context.device.sm.count->value : 0;
  time.floor = Seconds{(narrow ? c.t0_fp8_s : c.t0_s) + (op.kernels - 1) * context.constants.elementwise.t0_s};
  time.memory = memory_time({op.kv.value(), op.activations.value()}, c.bandwidth_fraction, 0, context);
  const double width = op.k / 2;  // of one head
  const double fraction =
      (narrow ? c.compute_fraction_fp8 : c.compute_fraction) * (width > 0 ? width / (width + c.half_width) : 1.0);
  const units::FlopsPerSecond rate = time.arithmetic.peak * std::max(1e-6, fraction);
  time.compute = op.flops / rate;
  if (sms > 0 && op.n > 0 && op.k > 0 && op.m > 0) {
    const double length = op.m / std::max(1.0, op.sequences);
    const double seen = op.flops.value() / (2 * op.n * op.k * op.m);  // keys of a query, on average
    const double most = seen + std::min(seen, length / 2);            // of the last query
    // Blocks differ in work; the last one's row of tiles ends alone, and a short prompt leaves most of a tile empty.
    time.compute += units::Flops{2 * prefill_tile_rows * most * op.k} / (rate / sms) * c.chain;
    const double blocks = op.sequences * op.n * std::ceil(length / prefill_tile_rows);
    time.compute = Seconds{p_norm(time.compute.value(), blocks / sms * c.tile_s, 2)};
  }
  time.expected = time.floor + Seconds{p_norm(time.memory.value(), time.compute.value(), c.p_norm)};
}

void time_small(const Op& op, const TimingContext& context, OpTime& time) {
  const ElementwiseConstants& c = context.constants.elementwise;
  time.floor = Seconds{c.t0_s * op.kernels};
  time.memory = memory_time({op.weights.value() + op.kv.value(), op.activations.value()}, c.bandwidth_fraction,
                            c.half_size_bytes, context);
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

namespace {

/// How far single operations of this kind and size lie from the expected time.
IntervalRatios interval_of(const Op& op, const OpTime& time, const KernelConstants& c) {
  const auto of_size = [&](const KindInterval& kind) {
    return time.floor.value() * 3 > time.expected.value() ? kind.small : kind.large;
  };
  switch (op.kind) {
    case OpKind::product: {
      const bool wide = !time.arithmetic.unpacks && op.format.bits_per_weight > 12;
      return of_size(wide ? c.interval_product : c.interval_product_narrow);
    }
    case OpKind::moe:
      return of_size(c.interval_moe);
    case OpKind::attention_decode:
      return of_size(c.interval_attention_decode);
    case OpKind::attention_prefill:
      return of_size(c.interval_attention_prefill);
    case OpKind::collective:
      return time.limit_link * 3 < time.expected ? c.interval_collective.small : c.interval_collective.large;
    case OpKind::elementwise:
    case OpKind::quantise:
      break;
  }
  return of_size(c.interval_elementwise);
}

}  // namespace

Result<OpTime> time_op(const Op& op, const TimingContext& context) {
  OpTime time;
  if (op.kind == OpKind::collective) {
    time_collective(op, context, time);
    time.interval = interval_of(op, time, context.constants);
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
  time.interval = interval_of(op, time, context.constants);
  return time;
}

}  // namespace corridor::roofline
