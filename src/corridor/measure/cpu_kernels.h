// SPDX-License-Identifier: Apache-2.0
// The two inner loops of the quick probes, in one version for each width of vector; the widest one that this processor
// runs is chosen when the program starts it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace corridor::measure {

/// Adds up all words of a buffer: every byte is read once. `words` is a multiple of `read_block_words`, and `data` is
/// aligned to 64 bytes.
using SumKernel = std::uint64_t (*)(const std::uint64_t* data, std::size_t words);
inline constexpr std::size_t read_block_words = 64;

/// `rounds` rounds of fused multiply-adds that stay in registers; returns a value that depends on all of them.
using FmaKernel = float (*)(std::size_t rounds);

struct CpuKernels {
  std::string_view name;  ///< "avx512f", "avx2 + fma", "neon", "portable"
  SumKernel sum = nullptr;
  FmaKernel fma = nullptr;
  double flop_per_round = 0;  ///< FLOP of one round of `fma` (a multiply-add is two)
};

[[nodiscard]] const CpuKernels& best_cpu_kernels();
/// Plain C++, for any processor and for comparison.
[[nodiscard]] const CpuKernels& portable_cpu_kernels();

}  // namespace corridor::measure
