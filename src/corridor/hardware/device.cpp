// SPDX-License-Identifier: Apache-2.0
// Names of the enumerations, the ridge point, and the type a product really runs in.
#include "corridor/hardware/device.h"

#include <span>

#include "corridor/base/lower.h"

namespace corridor::hardware {
namespace {

constexpr std::array<std::string_view, compute_type_count> type_names = {"fp64", "fp32", "tf32", "fp16", "bf16",
                                                                         "fp8",  "fp6",  "fp4",  "int8", "int4"};

struct Synonym {
  std::string_view spelling;
  ComputeType type;
};
constexpr Synonym synonyms[] = {
    {"double", ComputeType::fp64}, {"float64", ComputeType::fp64}, {"float", ComputeType::fp32},
    {"single", ComputeType::fp32}, {"float32", ComputeType::fp32}, {"half", ComputeType::fp16},
    {"f16", ComputeType::fp16},    {"float16", ComputeType::fp16}, {"bfloat16", ComputeType::bf16},
    {"f32", ComputeType::fp32},    {"fp8_e4m3", ComputeType::fp8}, {"e4m3", ComputeType::fp8},
    {"nvfp4", ComputeType::fp4},   {"mxfp4", ComputeType::fp4},    {"fp8_e5m2", ComputeType::fp8},
    {"w8a8", ComputeType::int8},   {"float8", ComputeType::fp8},
};

using Chain = std::span<const ComputeType>;

/// Types to try, in this order, when a device lacks the first.
Chain chain_of(ComputeType wanted) {
  using enum ComputeType;
  static constexpr ComputeType from_fp64[] = {fp64};
  static constexpr ComputeType from_fp32[] = {fp32, fp64};
  static constexpr ComputeType from_tf32[] = {tf32, fp32, fp64};
  static constexpr ComputeType from_fp16[] = {fp16, bf16, tf32, fp32, fp64};
  static constexpr ComputeType from_bf16[] = {bf16, fp16, tf32, fp32, fp64};
  static constexpr ComputeType from_fp8[] = {fp8, bf16, fp16, tf32, fp32, fp64};
  static constexpr ComputeType from_fp6[] = {fp6, fp8, bf16, fp16, tf32, fp32, fp64};
  static constexpr ComputeType from_fp4[] = {fp4, fp8, bf16, fp16, tf32, fp32, fp64};
  static constexpr ComputeType from_int8[] = {int8, bf16, fp16, tf32, fp32, fp64};
  static constexpr ComputeType from_int4[] = {int4, int8, bf16, fp16, tf32, fp32, fp64};
  static constexpr std::array<Chain, compute_type_count> chains = {
      from_fp64, from_fp32, from_tf32, from_fp16, from_bf16, from_fp8, from_fp6, from_fp4, from_int8, from_int4};
  return chains[static_cast<std::size_t>(wanted)];
}

}  // namespace

std::string_view name(Basis basis) {
  switch (basis) {
    case Basis::vendor:
      return "vendor";
    case Basis::measured:
      return "measured";
    case Basis::derived:
      return "derived";
    case Basis::assumed:
      return "assumed";
  }
  return "assumed";
}

std::string_view name(ComputeType type) {
  return type_names[static_cast<std::size_t>(type)];
}

std::optional<ComputeType> compute_type_from(std::string_view text) {
  const std::string small = lower(text);
  for (std::size_t i = 0; i < type_names.size(); ++i) {
    if (type_names[i] == small) return static_cast<ComputeType>(i);
  }
  for (const Synonym& synonym : synonyms) {
    if (synonym.spelling == small) return synonym.type;
  }
  return std::nullopt;
}

std::string_view name(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu:
      return "gpu";
    case DeviceKind::cpu:
      return "cpu";
    case DeviceKind::accelerator:
      return "accelerator";
  }
  return "gpu";
}

std::optional<units::FlopsPerByte> ridge_point(const Device& device, ComputeType type) {
  const MaybeFact<units::FlopsPerSecond>& peak = device.peak(type);
  if (!peak || !device.memory_bandwidth || device.memory_bandwidth->value.value() <= 0) return std::nullopt;
  return peak->value / device.memory_bandwidth->value;
}

std::optional<ComputeType> executed_type(const Device& device, ComputeType wanted) {
  for (const ComputeType type : chain_of(wanted)) {
    if (device.peak(type)) return type;
  }
  // Nothing that holds the values: the widest floating type the device has, then integers.
  for (std::size_t i = 0; i < compute_type_count; ++i) {
    if (device.peaks[i]) return static_cast<ComputeType>(i);
  }
  return std::nullopt;
}

}  // namespace corridor::hardware
