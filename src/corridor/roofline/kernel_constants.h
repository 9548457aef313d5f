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
#include "corridor/roofline/constant_file.h"

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
  double idle_exponent = 0;  ///< below one wave of tiles: 0 the depth is split over idle SMs, 1 they stay idle
};

struct AttentionDecodeConstants {
  double t0_s = 0, bandwidth_fraction = 1, half_size_bytes = 0, compute_fraction = 1, p_norm = 1;
  double tile_s = 0;         ///< time of one block (one sequence and KV head) on one SM, however short the sequence
  double tile_p_norm = 1;    ///< how that and the bytes combine
  double split_extra_s = 0;  ///< once a sequence is split over several SMs
};
struct AttentionPrefillConstants {
  double t0_s = 0, compute_fraction = 1, bandwidth_fraction = 1, p_norm = 1;
  double half_width =
      0;              ///< head width at which half of the fraction is reached: exponentials cost as much at any width
  double tile_s = 0;  ///< time of one block (128 queries of one head) on one SM, however short the prompt
  double chain = 0;   ///< share of its longest row of tiles that a prompt waits for beyond its mean load
  double t0_fp8_s = 0, compute_fraction_fp8 = 1;  ///< with an fp8 KV cache; the fraction is of the fp8 peak
};
struct ElementwiseConstants {
  double t0_s = 0, bandwidth_fraction = 1, half_size_bytes = 0;
};
/// A transfer by a library, which changes its protocol with size: latency_s + step_latency_s · (steps − 1) + the
/// smaller of traffic ÷ (small_fraction · link) and large_latency_s + traffic ÷ (bandwidth_fraction · link).
struct TransferConstants {
  double latency_s = 0, step_latency_s = 0, small_fraction = 1, large_latency_s = 0, bandwidth_fraction = 1;
};
/// An all-reduce among `ranks` devices: one shot up to a size, two shots up to another, then a library's ring.
struct AllReduceConstants {
  double ranks = 2;
  double latency_graph_s = 0, latency_eager_s = 0, latency_fused_s = 0;
  double bandwidth_fraction = 1, one_shot_max_bytes = 0;  ///< one shot: every rank reads all the others' buffers
  double two_shot_extra_s = 0, two_shot_bandwidth_fraction = 1;
  TransferConstants ring;
};
/// The last cache, for operations that a benchmark repeats.
struct CacheConstants {
  double usable_fraction = 0;  ///< of its capacity
  double bytes_per_s = 0;      ///< at which kernels read from it
};
/// Observed ÷ expected of single operations: four in five lie between low and high.
struct IntervalRatios {
  double low = 1, high = 1;
};
/// `small`: the floor is more than a third of the expected time.
struct KindInterval {
  IntervalRatios small, large;
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
  TransferConstants pcie;          ///< any of them where devices meet only on PCI Express
  TransferConstants network;       ///< between nodes, fractions of its own rate
  double network_bytes_per_s = 0;  ///< per device and direction between nodes
  CacheConstants cache;
  KindInterval interval_product, interval_product_narrow, interval_attention_decode, interval_attention_prefill;
  KindInterval interval_moe, interval_collective, interval_elementwise;
  /// CPUs: rate at which one core unpacks weights of a format (bytes of weights a second); empty elsewhere.
  std::map<std::string, double> unpack_bytes_per_s_per_core;
  std::vector<std::string> sources;  ///< distinct sources of the values in use
};

/// The constants that hold for a device's class, by name, before they are fitted to the device.
struct ConstantLayers {
  ConstantFile values;
  std::string device_class = "default";
};
/// Fills the typed constants and applies the device's own facts (device_rules.h). Errors name file and key.
[[nodiscard]] Result<KernelConstants> kernel_constants(const ConstantLayers& layers, const hardware::Device& device);

/// The files of `data/kernels`, each parsed once however many devices ask. `assets` must outlive it.
class ConstantFiles {
 public:
  explicit ConstantFiles(const Assets& assets) : assets_(assets) {}

  /// The default file under the file of the class that claims the device by `applies_to`. Errors name file and line.
  [[nodiscard]] Result<ConstantLayers> layers(const hardware::Device& device);
  /// The typed constants of those layers.
  [[nodiscard]] Result<KernelConstants> constants(const hardware::Device& device);

 private:
  using Parsed = std::map<std::string, Result<ConstantFile>>;  ///< by path
  [[nodiscard]] const Result<ConstantFile>& head(const std::string& path);
  [[nodiscard]] const Result<ConstantFile>& whole(const std::string& path);

  const Assets& assets_;
  Parsed heads_, wholes_;
};

}  // namespace corridor::roofline
