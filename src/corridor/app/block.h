// SPDX-License-Identifier: Apache-2.0
// One thread block on one device: its warps, how many blocks a multiprocessor holds, and which limit stops there.
//
//   250 threads → 8 warps, the last with 26 live lanes; 8 blocks an SM, 64 of 64 warps; limited by threads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/hardware/device.h"
#include "corridor/units/units.h"

namespace corridor::app {

struct BlockRequest {
  double threads = 0;
  std::optional<double> registers_per_thread;  ///< default 32
  units::Bytes shared;                         ///< shared memory asked for by one block
  std::optional<double> grid;                  ///< blocks launched in all
};

/// One resource of a multiprocessor and the blocks it allows.
struct BlockLimit {
  std::string resource;  ///< "threads", "blocks", "registers", "shared_memory"
  double blocks = 0;     ///< whole blocks that fit
  double used_a_block = 0;
  double available = 0;
  std::string unit;  ///< "threads", "blocks", "registers", "bytes"
};

struct BlockResult {
  double threads = 0;
  double warps = 0;            ///< per block
  double last_warp_lanes = 0;  ///< live lanes of the last warp
  double warp_size = 0;
  double registers_per_thread = 0;
  bool registers_assumed = false;
  units::Bytes shared_a_block;  ///< as allocated, with rounding and the reserve
  double blocks_per_sm = 0;
  double warps_per_sm = 0;
  double max_warps_per_sm = 0;
  double occupancy = 0;                 ///< resident warps ÷ most warps, of one SM
  std::vector<std::string> limited_by;  ///< every limit that stops first, the tightest first
  std::vector<BlockLimit> limits;
  std::optional<double> multiprocessors;
  std::optional<double> blocks_per_device, warps_per_device, threads_per_device;  ///< resident at once
  std::optional<double> grid;
  std::optional<double> waves;      ///< grid ÷ resident blocks, rounded up
  std::optional<double> last_wave;  ///< blocks in the last wave
  std::optional<units::Bytes> register_file, l2;
  std::string device_id, device_name;
  std::vector<std::string> notes;
  std::vector<std::string> formulas;
};

/// Registers are handed out to a warp in steps of 8 a thread (256 a warp of 32 lanes); shared memory in steps of 128 B
/// plus what the device keeps for each block (1 KiB on NVIDIA from compute capability 8.0). Fails on a block the device
/// cannot run, and on a device that has no such blocks (CPUs, accelerators).
[[nodiscard]] Result<BlockResult> place_block(const BlockRequest& request, const hardware::Device& device);

}  // namespace corridor::app
