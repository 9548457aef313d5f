// SPDX-License-Identifier: Apache-2.0
// The table of storage formats with the rule behind each number of bits, and the names people use for them.
#include "corridor/model/weight_format.h"

#include <array>
#include <utility>

#include "corridor/base/lower.h"

namespace corridor::model {
namespace {

constexpr double scale16 = 16;  // a 16-bit scale
constexpr double scale32 = 32;  // a 32-bit scale

/// Bits a weight of `bits` in groups of `group`, each group with a scale and a zero point.
constexpr double grouped(double bits, double group, double scale_bits, double zero_bits) {
  return bits + (scale_bits + zero_bits) / group;
}

/// Bits a weight of a GGUF block: `bytes` for `weights` weights.
constexpr double block(double bytes, double weights) {
  return bytes * 8 / weights;
}

WeightFormat own(const char* name, double bits, const char* compute) {
  return {name, bits, compute, ComputeClass::own};
}
WeightFormat weight_only(const char* name, double bits) {
  return {name, bits, "bf16", ComputeClass::weight_only};
}

std::vector<WeightFormat> plain_formats() {
  return {
      own("fp32", 32, "fp32"),
      own("tf32", 32, "tf32"),
      own("bf16", 16, "bf16"),
      own("fp16", 16, "fp16"),
      own("fp8", 8, "fp8"),  // one scale a tensor or a channel: not counted
      own("fp8-block", grouped(8, 128 * 128, scale32, 0), "fp8"),
      own("mxfp8", grouped(8, 32, 8, 0), "fp8"),
      own("fp6", 6, "fp6"),
      own("mxfp6", grouped(6, 32, 8, 0), "fp6"),
      own("nvfp4", grouped(4, 16, 8, 0), "fp4"),
      own("mxfp4", grouped(4, 32, 8, 0), "fp4"),
      own("w8a8-int8", 8, "int8"),
      weight_only("int8", 8),
      weight_only("int8-g128", grouped(8, 128, scale16, 8)),
      {"w4a8-fp8", grouped(4, 128, scale16, 4), "fp8", ComputeClass::weight_only},
      weight_only("nvfp4-a16", grouped(4, 16, 8, 0)),
      weight_only("mxfp4-a16", grouped(4, 32, 8, 0)),
      weight_only("int4-channel", 4),
      weight_only("int4-g128", grouped(4, 128, scale16, 4)),
      weight_only("int4-g64", grouped(4, 64, scale16, 4)),
      weight_only("int4-g32", grouped(4, 32, scale16, 4)),
      weight_only("int4-sym-g128", grouped(4, 128, scale16, 0)),
      weight_only("int4-sym-g64", grouped(4, 64, scale16, 0)),
      weight_only("int4-sym-g32", grouped(4, 32, scale16, 0)),
      weight_only("int3-g128", grouped(3, 128, scale16, 3)),
      weight_only("int2-g64", grouped(2, 64, scale16, 2)),
      weight_only("nf4", grouped(4, 64, scale32, 0)),
      weight_only("nf4-dq", 4 + 8.0 / 64 + 32.0 / (64 * 256)),  // scales themselves in 8 bit, groups of 256
  };
}

// Block layouts of ggml: bytes of one block and weights in it.
std::vector<WeightFormat> gguf_formats() {
  return {
      weight_only("q4_0", block(18, 32)),     weight_only("q4_1", block(20, 32)),
      weight_only("q5_0", block(22, 32)),     weight_only("q5_1", block(24, 32)),
      weight_only("q8_0", block(34, 32)),     weight_only("q8_1", block(36, 32)),
      weight_only("q2_k", block(84, 256)),    weight_only("q3_k", block(110, 256)),
      weight_only("q4_k", block(144, 256)),   weight_only("q5_k", block(176, 256)),
      weight_only("q6_k", block(210, 256)),   weight_only("q8_k", block(292, 256)),
      weight_only("iq1_s", block(50, 256)),   weight_only("iq1_m", block(56, 256)),
      weight_only("iq2_xxs", block(66, 256)), weight_only("iq2_xs", block(74, 256)),
      weight_only("iq2_s", block(82, 256)),   weight_only("iq3_xxs", block(98, 256)),
      weight_only("iq3_s", block(110, 256)),  weight_only("iq4_nl", block(18, 32)),
      weight_only("iq4_xs", block(136, 256)), weight_only("tq1_0", block(54, 256)),
      weight_only("tq2_0", block(66, 256)),
  };
}

// Mixes: the tool that makes GGUF files gives some tensors a better type. The averages here are those of the layers
// (embedding and head excluded): half of the `v` and `down` matrices in q6_k for the _m mixes; the others from the
// bits it reports for an 8B model with its q6_k head and its embedding taken out.
std::vector<WeightFormat> gguf_mixes() {
  return {
      weight_only("q2_k_mix", 2.94), weight_only("q3_k_s", 3.4375), weight_only("q3_k_m", 3.85),
      weight_only("q3_k_l", 4.19),   weight_only("q4_k_s", 4.54),   weight_only("q4_k_m", 4.80),
      weight_only("q5_k_s", 5.50),   weight_only("q5_k_m", 5.65),
  };
}

std::vector<WeightFormat> all_formats() {
  std::vector<WeightFormat> all = plain_formats();
  for (auto* more : {&gguf_formats, &gguf_mixes}) {
    for (WeightFormat& format : more()) all.push_back(std::move(format));
  }
  return all;
}

/// Lower case; spaces and underscores become dashes, so that "Q4_K_M", "q4-k-m" and "int8 w8a8" are found.
std::string plain_name(std::string_view name) {
  std::string out(name);
  for (char& c : out) c = c == '_' || c == ' ' ? '-' : lower(c);
  return out;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 78> aliases{{
    {"f32", "fp32"},
    {"float32", "fp32"},
    {"float", "fp32"},
    {"f16", "fp16"},
    {"float16", "fp16"},
    {"half", "fp16"},
    {"bfloat16", "bf16"},
    {"16", "bf16"},
    {"16bit", "bf16"},
    {"16-bit", "bf16"},
    {"w16a16", "bf16"},
    {"f8", "fp8"},
    {"float8", "fp8"},
    {"e4m3", "fp8"},
    {"e5m2", "fp8"},
    {"fp8-e4m3", "fp8"},
    {"fp8-e5m2", "fp8"},
    {"fp8-e4m3fn", "fp8"},
    {"float8-e4m3fn", "fp8"},
    {"float8-e5m2", "fp8"},
    {"f8-e4m3", "fp8"},
    {"f8-e5m2", "fp8"},
    {"w8a8-fp8", "fp8"},
    {"fp8-w8a8", "fp8"},
    {"fp8-tensor", "fp8"},
    {"fp8-dynamic", "fp8"},
    {"fp8-block-128", "fp8-block"},
    {"fp8-block-scaled", "fp8-block"},
    {"blockwise-fp8", "fp8-block"},
    {"int8-w8a8", "w8a8-int8"},
    {"w8a8", "w8a8-int8"},
    {"smoothquant", "w8a8-int8"},
    {"int8-sq", "w8a8-int8"},
    {"w8a16", "int8"},
    {"int8-w8a16", "int8"},
    {"int8-weight-only", "int8"},
    {"int8-wo", "int8"},
    {"i8", "int8"},
    {"8bit", "int8"},
    {"8-bit", "int8"},
    {"llm.int8", "int8"},
    {"bnb-int8", "int8"},
    {"int4", "int4-g128"},
    {"w4a16", "int4-g128"},
    {"w4", "int4-g128"},
    {"i4", "int4-g128"},
    {"4bit", "int4-g128"},
    {"4-bit", "int4-g128"},
    {"awq", "int4-g128"},
    {"gptq", "int4-g128"},
    {"int4-awq", "int4-g128"},
    {"awq-int4", "int4-g128"},
    {"gptq-int4", "int4-g128"},
    {"int4-gptq", "int4-g128"},
    {"awq-marlin", "int4-g128"},
    {"gptq-marlin", "int4-g128"},
    {"int4-weight-only", "int4-g128"},
    {"w4a16-g128", "int4-g128"},
    {"w4a16-g64", "int4-g64"},
    {"w4a16-g32", "int4-g32"},
    {"gptq-int8", "int8-g128"},
    {"int3", "int3-g128"},
    {"int2", "int2-g64"},
    {"w4a8", "w4a8-fp8"},
    {"fp4", "nvfp4"},
    {"w4a4", "nvfp4"},
    {"nv-fp4", "nvfp4"},
    {"bnb-4bit", "nf4"},
    {"bnb", "nf4"},
    {"bitsandbytes", "nf4"},
    {"qlora", "nf4-dq"},
    {"bnb-nf4", "nf4"},
    {"q8", "q8_0"},
    {"q6", "q6_k"},
    {"q5", "q5_k_m"},
    {"q4", "q4_k_m"},
    {"q3", "q3_k_m"},
    {"q2", "q2_k_mix"},
}};

const WeightFormat* by_name(std::string_view plain) {
  for (const WeightFormat& format : weight_formats()) {
    if (plain_name(format.name) == plain) return &format;
  }
  return nullptr;
}

}  // namespace

const std::vector<WeightFormat>& weight_formats() {
  static const std::vector<WeightFormat> formats = all_formats();
  return formats;
}

std::optional<WeightFormat> find_weight_format(std::string_view name) {
  if (name.size() > 64) return std::nullopt;
  const std::string plain = plain_name(name);
  if (const WeightFormat* format = by_name(plain)) return *format;
  for (const auto& [alias, target] : aliases) {
    if (plain == alias) return *by_name(plain_name(target));
  }
  return std::nullopt;
}

}  // namespace corridor::model
