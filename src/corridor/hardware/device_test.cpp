// SPDX-License-Identifier: Apache-2.0
// Enumerations, ridge points and the fall-back of arithmetic types.
#include "corridor/hardware/device.h"

#include <gtest/gtest.h>

namespace corridor::hardware {
namespace {

Device device_with(std::initializer_list<ComputeType> types) {
  Device device;
  for (const ComputeType type : types) {
    device.peaks[static_cast<std::size_t>(type)].emplace().value = units::FlopsPerSecond{1e12};
  }
  return device;
}

TEST(ComputeType, NamesReadBack) {
  for (std::size_t i = 0; i < compute_type_count; ++i) {
    const auto type = static_cast<ComputeType>(i);
    EXPECT_EQ(compute_type_from(name(type)), type) << name(type);
  }
}

TEST(ComputeType, SynonymsAndRefusals) {
  EXPECT_EQ(compute_type_from("half"), ComputeType::fp16);
  EXPECT_EQ(compute_type_from("BFloat16"), ComputeType::bf16);
  EXPECT_EQ(compute_type_from("nvfp4"), ComputeType::fp4);
  EXPECT_EQ(compute_type_from("e4m3"), ComputeType::fp8);
  EXPECT_EQ(compute_type_from(""), std::nullopt);
  EXPECT_EQ(compute_type_from("fp9"), std::nullopt);
}

TEST(RidgePoint, IsPeakOverBandwidth) {
  Device device = device_with({ComputeType::bf16});
  EXPECT_EQ(ridge_point(device, ComputeType::bf16), std::nullopt) << "no bandwidth known";
  device.memory_bandwidth.emplace().value = units::BytesPerSecond{4e9};
  EXPECT_DOUBLE_EQ(ridge_point(device, ComputeType::bf16)->value(), 250.0);
  EXPECT_EQ(ridge_point(device, ComputeType::fp8), std::nullopt) << "no fp8 peak";
}

TEST(ExecutedType, KeepsWhatTheDeviceHas) {
  const Device device = device_with({ComputeType::fp8, ComputeType::bf16});
  EXPECT_EQ(executed_type(device, ComputeType::fp8), ComputeType::fp8);
  EXPECT_EQ(executed_type(device, ComputeType::bf16), ComputeType::bf16);
}

TEST(ExecutedType, FallsToTheNextTypeThatHoldsTheValues) {
  const Device a100 = device_with({ComputeType::fp32, ComputeType::fp16, ComputeType::bf16, ComputeType::int8});
  EXPECT_EQ(executed_type(a100, ComputeType::fp8), ComputeType::bf16);
  EXPECT_EQ(executed_type(a100, ComputeType::fp4), ComputeType::bf16);
  EXPECT_EQ(executed_type(a100, ComputeType::int4), ComputeType::int8);
  const Device hopper = device_with({ComputeType::bf16, ComputeType::fp8});
  EXPECT_EQ(executed_type(hopper, ComputeType::fp4), ComputeType::fp8);
  const Device v100 = device_with({ComputeType::fp32, ComputeType::fp16});
  EXPECT_EQ(executed_type(v100, ComputeType::bf16), ComputeType::fp16);
  const Device cpu = device_with({ComputeType::fp32});
  EXPECT_EQ(executed_type(cpu, ComputeType::bf16), ComputeType::fp32);
  EXPECT_EQ(executed_type(cpu, ComputeType::int8), ComputeType::fp32);
}

TEST(ExecutedType, IsEmptyOnlyWithoutAnyPeak) {
  for (std::size_t i = 0; i < compute_type_count; ++i) {
    const auto only = static_cast<ComputeType>(i);
    const Device device = device_with({only});
    for (std::size_t j = 0; j < compute_type_count; ++j) {
      EXPECT_EQ(executed_type(device, static_cast<ComputeType>(j)), only);
    }
  }
  EXPECT_EQ(executed_type(Device{}, ComputeType::bf16), std::nullopt);
}

}  // namespace
}  // namespace corridor::hardware
