// SPDX-License-Identifier: Apache-2.0
// What timing needs to know of a GPU. app fills it from the catalogue; ptx itself knows no device by name.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "corridor/ptx/isa/op_info.h"

namespace corridor::ptx {

struct Machine {
  std::string name;  ///< "H100 SXM"
  std::uint32_t compute_major = 9, compute_minor = 0;
  std::uint32_t sm_count = 0, warp_slots = 64, block_slots = 32, schedulers = 4;
  std::uint32_t registers = 65536, register_unit = 256;  ///< of an SM; allocated a warp in steps
  std::uint64_t l1_shared_bytes = 0, shared_bytes_per_sm = 0, shared_bytes_per_block = 0;
  std::uint32_t shared_unit = 128, shared_reserved_per_block = 1024;
  std::uint64_t l2_bytes = 0;
  double clock_hz = 0;
  std::array<double, 16> lanes_per_clock{};  ///< of an SM, indexed by Pipe (thread instructions a clock)
  double tensor_f16_flop_per_clock_sm = 0;
  double l1_bytes_per_clock_sm = 128, l2_bytes_per_s = 0,
         dram_bytes_per_s = 0;  ///< reachable where measured, else datasheet
  double l1_latency_clocks = 0, shared_latency_clocks = 0, l2_latency_clocks = 0, dram_latency_clocks = 0;
  double launch_s = 0;  ///< floor of a small kernel
  double alu_latency_clocks = 4, xu_latency_clocks = 19, tensor_latency_clocks = 22, barrier_clocks = 15;
  /// From the end of a block to the first useful instruction of the one that takes its place.
  double block_start_clocks = 450;
  double blocks_per_clock = 1;        ///< that the whole device can start; 0: no limit known
  double l2_bytes_per_clock_sm = 64;  ///< between one SM and L2
};

}  // namespace corridor::ptx
