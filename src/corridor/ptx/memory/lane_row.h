// SPDX-License-Identifier: Apache-2.0
// Asks whether the addresses of a warp form an arithmetic row, in vector code chosen for the processor at run time.
#pragma once

#include <cstdint>

namespace corridor::ptx {

/// True when address[i] = address[0] + i × (address[1] − address[0]) for all 32 lanes (modulo 2^64 or 2^32).
[[nodiscard]] bool is_row(const std::uint64_t* address);
[[nodiscard]] bool is_row(const std::uint32_t* address);

}  // namespace corridor::ptx
