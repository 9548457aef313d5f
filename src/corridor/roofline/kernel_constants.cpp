// SPDX-License-Identifier: Apache-2.0
// Picks the constants of a device's class and fills the typed structs the time model reads.
#include "corridor/roofline/kernel_constants.h"

#include <algorithm>
#include <set>

#include "corridor/roofline/constant_file.h"
#include "corridor/roofline/device_rules.h"

namespace corridor::roofline {
namespace {

/// Fills fields from a file and keeps the first error.
class Filler {
 public:
  explicit Filler(const ConstantFile& file) : file_(file) {}

  void take(const std::string& key, double& target) {
    if (!ok_) return;
    const Result<double> value = file_.number(key);
    if (value)
      target = *value;
    else
      ok_ = tl::unexpected(value.error());
  }
  void take_product(const std::string& table, ProductConstants& c) {
    take(table + ".t0_s", c.t0_s);
    take(table + ".bandwidth_fraction", c.bandwidth_fraction);
    take(table + ".half_size_bytes", c.half_size_bytes);
    take(table + ".compute_fraction", c.compute_fraction);
    take(table + ".p_norm", c.p_norm);
  }
  void take_shape(const std::string& table, ProductConstants& c) {
    take(table + ".k_half", c.k_half);
    take(table + ".tile_m", c.tile_m);
    take(table + ".tile_n", c.tile_n);
    take(table + ".idle_exponent", c.idle_exponent);
  }
  void take_transfer(const std::string& table, const std::string& prefix, TransferConstants& c) {
    take(table + prefix + "latency_s", c.latency_s);
    take(table + prefix + "small_fraction", c.small_fraction);
    take(table + prefix + "large_latency_s", c.large_latency_s);
    take(table + prefix + "bandwidth_fraction", c.bandwidth_fraction);
  }
  void take_transfer(const std::string& table, TransferConstants& c) {
    take_transfer(table, ".", c);
    take(table + ".step_latency_s", c.step_latency_s);
  }
  void take_all_reduce(int ranks, AllReduceConstants& c) {
    const std::string table = "all_reduce." + std::to_string(ranks);
    c.ranks = ranks;
    take(table + ".latency_graph_s", c.latency_graph_s);
    take(table + ".latency_eager_s", c.latency_eager_s);
    take(table + ".latency_fused_s", c.latency_fused_s);
    take(table + ".bandwidth_fraction", c.bandwidth_fraction);
    take(table + ".one_shot_max_bytes", c.one_shot_max_bytes);
    take(table + ".two_shot_extra_s", c.two_shot_extra_s);
    take(table + ".two_shot_bandwidth_fraction", c.two_shot_bandwidth_fraction);
    take_transfer(table, ".ring_", c.ring);
  }
  void take_interval(const std::string& kind, KindInterval& c) {
    take("interval." + kind + ".small_low", c.small.low);
    take("interval." + kind + ".small_high", c.small.high);
    take("interval." + kind + ".large_low", c.large.low);
    take("interval." + kind + ".large_high", c.large.high);
  }
  [[nodiscard]] const Result<int>& ok() const { return ok_; }

 private:
  const ConstantFile& file_;
  Result<int> ok_ = 0;
};

void fill_attention(Filler& fill, KernelConstants& c) {
  fill.take("attention_decode.t0_s", c.attention_decode.t0_s);
  fill.take("attention_decode.bandwidth_fraction", c.attention_decode.bandwidth_fraction);
  fill.take("attention_decode.half_size_bytes", c.attention_decode.half_size_bytes);
  fill.take("attention_decode.compute_fraction", c.attention_decode.compute_fraction);
  fill.take("attention_decode.p_norm", c.attention_decode.p_norm);
  fill.take("attention_decode.tile_s", c.attention_decode.tile_s);
  fill.take("attention_decode.tile_p_norm", c.attention_decode.tile_p_norm);
  fill.take("attention_decode.split_extra_s", c.attention_decode.split_extra_s);
  c.attention_decode_fp8 = c.attention_decode;
  fill.take("attention_decode.fp8.t0_s", c.attention_decode_fp8.t0_s);
  fill.take("attention_decode.fp8.bandwidth_fraction", c.attention_decode_fp8.bandwidth_fraction);
  fill.take("attention_decode.fp8.half_size_bytes", c.attention_decode_fp8.half_size_bytes);
  fill.take("attention_prefill.t0_s", c.attention_prefill.t0_s);
  fill.take("attention_prefill.compute_fraction", c.attention_prefill.compute_fraction);
  fill.take("attention_prefill.fp8.compute_fraction", c.attention_prefill.compute_fraction_fp8);
  fill.take("attention_prefill.half_width", c.attention_prefill.half_width);
  fill.take("attention_prefill.tile_s", c.attention_prefill.tile_s);
  fill.take("attention_prefill.chain", c.attention_prefill.chain);
  fill.take("attention_prefill.fp8.t0_s", c.attention_prefill.t0_fp8_s);
  fill.take("attention_prefill.bandwidth_fraction", c.attention_prefill.bandwidth_fraction);
  fill.take("attention_prefill.p_norm", c.attention_prefill.p_norm);
}

void fill_intervals(Filler& fill, KernelConstants& c) {
  fill.take_interval("product", c.interval_product);
  fill.take_interval("product_narrow", c.interval_product_narrow);
  fill.take_interval("moe", c.interval_moe);
  fill.take_interval("attention_decode", c.interval_attention_decode);
  fill.take_interval("attention_prefill", c.interval_attention_prefill);
  fill.take_interval("collective", c.interval_collective);
  fill.take_interval("elementwise", c.interval_elementwise);
}

void fill_transfers(Filler& fill, KernelConstants& c) {
  fill.take("all_reduce.custom_max_bytes", c.custom_all_reduce_max_bytes);
  for (const int ranks : {2, 4, 8}) fill.take_all_reduce(ranks, c.all_reduce.emplace_back());
  fill.take_transfer("all_gather", c.all_gather);
  fill.take_transfer("all_to_all", c.all_to_all);
  fill.take_transfer("send_recv", c.send_recv);
  fill.take_transfer("pcie", c.pcie);
  fill.take_transfer("network", c.network);
  fill.take("network.bytes_per_s", c.network_bytes_per_s);
}

Result<KernelConstants> fill_constants(const ConstantFile& file) {
  KernelConstants c;
  Filler fill(file);
  for (const auto& [table, target] : {std::pair{"product.bf16", &c.bf16},
                                      {"product.fp8", &c.fp8},
                                      {"product.fp4", &c.fp4},
                                      {"product.int8", &c.int8},
                                      {"product.weight_only", &c.weight_only}}) {
    fill.take_product(table, *target);
    fill.take_shape(table, *target);
  }
  c.fp8_block = c.fp8;
  if (file.values.count("product.fp8_block.t0_s") > 0) {
    fill.take_product("product.fp8_block", c.fp8_block);
    fill.take_shape("product.fp8_block", c.fp8_block);
  }
  fill.take_product("moe", c.moe);
  fill.take_product("moe.fp8", c.moe_fp8);
  fill.take_product("moe.fp4", c.moe_fp4);
  fill_attention(fill, c);
  fill.take("elementwise.t0_s", c.elementwise.t0_s);
  fill.take("elementwise.bandwidth_fraction", c.elementwise.bandwidth_fraction);
  fill.take("elementwise.half_size_bytes", c.elementwise.half_size_bytes);
  fill_transfers(fill, c);
  fill_intervals(fill, c);
  fill.take("cache.usable_fraction", c.cache.usable_fraction);
  fill.take("cache.bytes_per_s", c.cache.bytes_per_s);
  double measured = 0;
  fill.take("class_measured", measured);
  if (!fill.ok()) return tl::unexpected(fill.ok().error());
  c.measured = measured != 0;
  const std::string unpack = "unpack_bytes_per_s_per_core.";
  for (const auto& [key, constant] : file.values) {
    if (key.starts_with(unpack)) c.unpack_bytes_per_s_per_core[key.substr(unpack.size())] = constant.value;
  }
  // Bytes are then charged at the plain rate; the unpacking stands on its own.
  if (!c.unpack_bytes_per_s_per_core.empty()) c.weight_only.bandwidth_fraction = c.bf16.bandwidth_fraction;
  std::set<std::string> sources;
  for (const auto& [key, constant] : file.values) sources.insert(constant.source);
  c.sources.assign(sources.begin(), sources.end());
  return c;
}

bool claims(const ConstantFile& file, const hardware::Device& device) {
  const auto any = [&](const std::string& list, const std::string& text) {
    const auto found = file.lists.find(list);
    if (found == file.lists.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(),
                       [&](const std::string& word) { return word != "*" && text.find(word) != std::string::npos; });
  };
  return any("applies_to.architectures", device.family + " " + device.architecture + " " + device.id) &&
         any("applies_to.vendors", device.vendor);
}

/// Half sizes are latency × bandwidth, so those of a lower layer hold at that layer's bandwidth.
void overlay(const ConstantFile& file, ConstantFile& all) {
  const auto before = all.number("reference_bandwidth");
  const auto after = file.number("reference_bandwidth");
  if (before && after && *before > 0) {
    for (auto& [key, constant] : all.values) {
      if (key.ends_with("half_size_bytes")) constant.value *= *after / *before;
    }
  }
  all.overlay(file);
}

}  // namespace

/// Only what stands before the first table: who the file applies to.
const Result<ConstantFile>& ConstantFiles::head(const std::string& path) {
  const auto known = heads_.find(path);
  if (known != heads_.end()) return known->second;
  const Result<std::string_view> text = assets_.read(path);
  if (!text) return heads_.emplace(path, tl::unexpected(text.error())).first->second;
  return heads_.emplace(path, parse_constants(text->substr(0, text->find("\n[")), assets_.describe(path)))
      .first->second;
}

const Result<ConstantFile>& ConstantFiles::whole(const std::string& path) {
  const auto known = wholes_.find(path);
  if (known != wholes_.end()) return known->second;
  const Result<std::string_view> text = assets_.read(path);
  if (!text) return wholes_.emplace(path, tl::unexpected(text.error())).first->second;
  return wholes_.emplace(path, parse_constants(*text, assets_.describe(path))).first->second;
}

Result<ConstantLayers> ConstantFiles::layers(const hardware::Device& device) {
  ConstantLayers layers;
  for (const char* path : {"kernels/default.toml", "kernels/network.toml"}) {
    const Result<ConstantFile>& file = whole(path);
    if (!file) return tl::unexpected(file.error());
    layers.values.overlay(*file);
  }
  for (const std::string& path : assets_.list("kernels")) {
    const Result<ConstantFile>& beginning = head(path);
    if (!beginning) return tl::unexpected(beginning.error());
    if (!claims(*beginning, device)) continue;
    const Result<ConstantFile>& file = whole(path);
    if (!file) return tl::unexpected(file.error());
    overlay(*file, layers.values);
    layers.device_class = path.substr(8, path.size() - 8 - 5);  // kernels/NAME.toml
    break;
  }
  return layers;
}

Result<KernelConstants> kernel_constants(const ConstantLayers& layers, const hardware::Device& device) {
  Result<KernelConstants> constants = fill_constants(layers.values);
  if (!constants) return constants;
  constants->device_class = layers.device_class;
  apply_device_rules(device, layers.values, *constants);
  return constants;
}

Result<KernelConstants> ConstantFiles::constants(const hardware::Device& device) {
  const Result<ConstantLayers> found = layers(device);
  if (!found) return tl::unexpected(found.error());
  return kernel_constants(*found, device);
}

}  // namespace corridor::roofline
