// SPDX-License-Identifier: Apache-2.0
// Random CUDA C: kernels whose result the language defines to the last bit, whichever compiler makes PTX of them.
#pragma once

#include <cstdint>
#include <string>

namespace corridor::testing {

/// Kernels k0 … k<count − 1> of one source, with parameters (const unsigned long long* in, unsigned long long* out):
/// each thread reads three values and writes one. Blocks have 64 threads. Integers wrap, divisors are never zero,
/// conversions stay in range, NaN is written as one pattern; nothing is left to the compiler but which instructions it
/// takes. Clang compiles it without headers of CUDA, nvcc as it is.
[[nodiscard]] std::string random_kernels(std::uint64_t seed, int count);

inline constexpr std::uint32_t random_kernel_threads = 64;  ///< of a block

}  // namespace corridor::testing
