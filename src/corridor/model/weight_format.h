// SPDX-License-Identifier: Apache-2.0
// The formats weights and KV caches are stored in: bits a weight (scales counted) and how their products compute.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corridor::model {

/// How a product with these weights is computed.
enum class ComputeClass {
  own,          ///< in the format's own type where the device has it (bf16, fp16, fp8, nvfp4, int8 w8a8)
  weight_only,  ///< unpacked to 16 bit first (int8/int4 weight-only, awq, gptq, GGUF, mxfp4 on Hopper)
};

/// One storage format. Values come from a fixed table (`weight_formats()`), so equal names are equal formats.
struct WeightFormat {
  std::string name = "bf16";     ///< "bf16", "fp8", "fp8-block", "int4-g128", "q4_k", "nvfp4", …
  double bits_per_weight = 16;   ///< with group scales and zero points
  std::string compute = "bf16";  ///< arithmetic type of its products: "bf16", "fp8", "fp4", "int8", "fp32" …
  ComputeClass compute_class = ComputeClass::own;
  bool operator==(const WeightFormat& other) const { return name == other.name; }
};

/// Every known format, in the order help lists them, with the rule behind its bits in `note` of docs.
[[nodiscard]] const std::vector<WeightFormat>& weight_formats();

/// Finds a format by name or common alias: "int4", "w4a16", "awq", "gptq", "q4_k_m", "Q4_K", "bfloat16", "e4m3" …
[[nodiscard]] std::optional<WeightFormat> find_weight_format(std::string_view name);

}  // namespace corridor::model
