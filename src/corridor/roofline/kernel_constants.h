// SPDX-License-Identifier: Apache-2.0
// How close real kernels come to the roofs of a device class: floors, reachable fractions, knees. Data, not code:
// data/kernels/default.toml, overridden by the file of the device's class (hopper.toml, ampere.toml …).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/assets.h"
#include "corridor/base/result.h"
#include "corridor/hardware/device.h"

namespace corridor::roofline {

/// Matrix products of one arithmetic type, and grouped (MoE) products.
struct ProductConstants {
  double t0_s = 0;                ///< floor of one launch
  double bandwidth_fraction = 1;  ///< of the datasheet bandwidth, at large sizes
  double half_size_bytes = 0;     ///< size at which half of that is reached
  double compute_fraction = 1;    ///< of the dense peak, for large shapes
  double k_half = 0;              ///< depth at which half of that is reached
  double p_norm = 1;              ///< how memory and compute time combine: 1 add, ∞ overlap
  double tile_m = 128;
  double tile_n = 128;
};

struct AttentionDecodeConstants {
  double t0_s = 0, bandwidth_fraction = 1, half_size_bytes = 0, compute_fraction = 1, p_norm = 1;
};
struct AttentionPrefillConstants {
  double t0_s = 0, compute_fraction = 1, half_length_tokens = 0, bandwidth_fraction = 1, p_norm = 1;
  double compute_fraction_fp8 = 1;  ///< of the fp8 peak, with an fp8 KV cache
};
struct ElementwiseConstants {
  double t0_s = 0, bandwidth_fraction = 1, half_size_bytes = 0;
};
/// An all-reduce among `ranks` devices: one shot up to a size, two shots up to another, then a ring (NCCL).
struct AllReduceConstants {
  double ranks = 2;
  double latency_graph_s = 0, latency_eager_s = 0, latency_fused_s = 0;
  double bandwidth_fraction = 1, one_shot_max_bytes = 0;  ///< one shot: every rank reads all the others' buffers
  double two_shot_extra_s = 0, two_shot_bandwidth_fraction = 1;
  double ring_latency_s = 0, ring_half_size_bytes = 0, ring_bandwidth_fraction = 1;
};
/// Any other transfer: latency plus bytes at a fraction of the link.
struct TransferConstants {
  double latency_s = 0, bandwidth_fraction = 1, half_size_bytes = 0;
};

struct KernelConstants {
  std::string device_class;  ///< "hopper"; "default" when no class claims the device
  bool measured = false;     ///< the class rests on measurements of its own devices
  ProductConstants bf16, fp8, fp4, int8, weight_only;
  ProductConstants fp8_block;              ///< fp8 with one scale a 128 × 128 block; as fp8 where not measured
  ProductConstants moe, moe_fp8, moe_fp4;  ///< grouped products of routed experts, the whole block's launches in t0
  AttentionDecodeConstants attention_decode, attention_decode_fp8;
  AttentionPrefillConstants attention_prefill;
  ElementwiseConstants elementwise;
  double custom_all_reduce_max_bytes = 0;      ///< above it engines hand over to the ring
  std::vector<AllReduceConstants> all_reduce;  ///< by ranks, ascending
  TransferConstants all_gather, all_to_all, send_recv;
  TransferConstants network;       ///< between nodes: latency added to a transfer, fraction of its own rate
  double network_bytes_per_s = 0;  ///< per device and direction between nodes
  /// CPUs: rate at which one core unpacks weights of a format (bytes of weights a second); empty elsewhere.
  std::map<std::string, double> unpack_bytes_per_s_per_core;
  std::vector<std::string> sources;  ///< distinct sources of the values in use
};

/// Constants for a device: its class by `applies_to`, else the default file. Half sizes are scaled from the class's
/// reference bandwidth to the device's; where the class was not measured, the fractions are scaled to the device's own
/// reachable figures when the catalogue has them. Errors name file and key.
[[nodiscard]] Result<KernelConstants> load_kernel_constants(const Assets& assets, const hardware::Device& device);

}  // namespace corridor::roofline
