// SPDX-License-Identifier: Apache-2.0
// What a compute capability tells of an SM, for the simulated GPU, with where each number comes from.
#pragma once

#include <cstdint>

#include "corridor/hardware/device.h"

namespace corridor::app {

struct Capability {
  std::uint32_t major = 0, minor = 0;
  // NVIDIA CUDA C++ Programming Guide, technical specifications per compute capability.
  std::uint32_t warp_slots = 0, block_slots = 0;
  std::uint32_t l1_shared_kib = 0, shared_kib = 0, shared_block_kib = 0, shared_unit = 0, shared_reserved = 0;
  // The same guide, throughput of arithmetic instructions: lanes a clock and SM. fp16: lanes of packed pairs.
  double fp32 = 0, fp16 = 0, fp64 = 0, alu = 0, xu = 0, lsu = 0;
  double tensor_f16_flop_per_clock = 0;
  double l1_bytes_per_clock = 0;
  // Clocks. Sources in ptx_capability.cpp.
  double l1_latency = 0, shared_latency = 0, l2_latency = 0, dram_latency = 0;
  double launch_s = 0, block_start = 0, blocks_per_clock = 0;
  bool start_measured = false;  ///< the last three were measured on this generation, not taken from a neighbour
};

/// Of a device: from its architecture ("GH100 (cc 9.0)"), else from its product line; `known` is false when neither
/// tells and 9.0 is returned.
struct FoundCapability {
  Capability capability;
  bool known = true;
  bool exact = true;  ///< false: a neighbour's numbers (10.3 from 10.0)
};
[[nodiscard]] FoundCapability capability_of(const hardware::Device& device);

}  // namespace corridor::app
