// SPDX-License-Identifier: Apache-2.0
// An H100 SXM built by hand from its datasheet, so that tests of single tools do not depend on the catalogue.
#pragma once

#include "corridor/hardware/device.h"

namespace corridor::app {

template <class T>
hardware::Fact<T> fact(T value) {
  return {value, hardware::Basis::vendor, "NVIDIA H100 datasheet", "2026-11-29", ""};
}

inline hardware::Device h100_by_hand() {
  using hardware::ComputeType;
  hardware::Device device;
  device.id = "h100-sxm";
  device.name = "NVIDIA H100 80GB HBM3";
  device.vendor = "NVIDIA";
  device.memory_bandwidth = fact<units::BytesPerSecond>(units::BytesPerSecond{3.35e12});
  const auto peak = [&](ComputeType type, double flop_per_s) {
    device.peaks[static_cast<std::size_t>(type)] = fact<units::FlopsPerSecond>(units::FlopsPerSecond{flop_per_s});
  };
  peak(ComputeType::fp32, 66.9e12);
  peak(ComputeType::fp16, 989.4e12);
  peak(ComputeType::bf16, 989.4e12);
  peak(ComputeType::fp8, 1978.9e12);
  device.sm.count = fact<double>(132);
  device.sm.schedulers = fact<double>(4);
  device.sm.warp_size = fact<double>(32);
  device.sm.max_threads = fact<double>(2048);
  device.sm.max_warps = fact<double>(64);
  device.sm.max_blocks = fact<double>(32);
  device.sm.max_threads_per_block = fact<double>(1024);
  device.sm.registers = fact<units::Bytes>(units::Bytes{65536.0 * 4});
  device.sm.shared_per_block = fact<units::Bytes>(units::Bytes{227.0 * 1024});
  device.sm.shared_per_sm = fact<units::Bytes>(units::Bytes{228.0 * 1024});
  hardware::MemoryLevel l2;
  l2.name = "L2";
  l2.reach = "device";
  l2.capacity = fact<units::Bytes>(units::Bytes{50.0 * 1024 * 1024});
  hardware::MemoryLevel hbm;
  hbm.name = "HBM3";
  hbm.reach = "device";
  device.ladder = {l2, hbm};
  return device;
}

}  // namespace corridor::app
