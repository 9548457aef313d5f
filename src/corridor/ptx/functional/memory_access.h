// SPDX-License-Identifier: Apache-2.0
// What loads, stores, atomics and asynchronous copies share: addresses become host pointers, are checked and counted.
#pragma once

#include <cstdint>

#include "corridor/ptx/functional/block_run.h"
#include "corridor/ptx/functional/lane_kernels.h"

namespace corridor::ptx {

/// Host addresses of what the lanes of a warp touch.
struct HostLanes {
  std::uint8_t* of[32];
  std::uint8_t* base = nullptr;  ///< of the first lane, where the lanes are a row or uniform in one allocation
};

/// Where one lane's access of `bytes` is, after a reach_… below.
[[nodiscard]] inline std::uint8_t* lane_pointer(const HostLanes& host, const LaneAddresses& a, std::uint32_t lane,
                                                std::uint32_t bytes) {
  if (host.base == nullptr) return host.of[lane];
  return a.shape == LaneAddresses::Shape::uniform ? host.base : host.base + std::size_t{lane - a.first_lane} * bytes;
}

enum class Touch : std::uint8_t { load, store, atomic };

/// Finds and checks the lanes' addresses in global memory, counts and logs the request. False: a fault ended the block.
bool reach_global(Exec& x, const LaneAddresses& address, std::uint32_t lanes, std::uint32_t bytes, Touch touch,
                  std::uint16_t flags, HostLanes& host);
/// The same in shared memory; addresses are offsets.
bool reach_shared(Exec& x, const LaneAddresses& address, std::uint32_t lanes, std::uint32_t bytes, Touch touch,
                  std::uint16_t flags, HostLanes& host);
bool reach_local(Exec& x, const LaneAddresses& address, std::uint32_t lanes, std::uint32_t bytes, Touch touch,
                 std::uint16_t flags, HostLanes& host);

}  // namespace corridor::ptx
