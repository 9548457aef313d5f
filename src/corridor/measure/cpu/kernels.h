// SPDX-License-Identifier: Apache-2.0
// The inner loops of the processor's measurements, one version for each width of vector; the widest one that this
// processor runs is chosen at run time.
//
//   const Kernels& k = best_kernels();
//   k.name;                             // "avx512"
//   k.read(data, bytes);                // every byte loaded once
//   k.triad(a, b, c, bytes);            // a = b + 3 · c on doubles; streaming: past the caches
//
// Sizes are bytes in multiples of `block_bytes`; places are aligned to 64 bytes. Every loop returns or writes something
// that depends on all it did, so that no compiler leaves it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "corridor/hardware/device.h"

namespace corridor::measure {

inline constexpr std::size_t block_bytes = 1024;

/// How stores reach memory: through the caches (the line is read first), or past them.
enum class Store { cached, streaming };

/// How a read helps the hardware to fetch ahead.
struct ReadWay {
  enum class Hint { none, near, far, once };  ///< nothing; into the first cache; into the second; past the second
  Hint hint = Hint::none;
  std::size_t ahead = 0;      ///< bytes that are asked for in advance with a hint
  bool four_streams = false;  ///< four quarters at the same time: four pages are being fetched at once
};

/// Multiply-adds that stay in registers.
struct PeakKernel {
  hardware::ComputeType type = hardware::ComputeType::fp32;
  std::string_view unit;                        ///< "avx512", "avx512_bf16", "avx512_vnni"
  double (*run)(std::size_t rounds) = nullptr;  ///< returns a value that depends on all rounds
  double flop_per_round = 0;                    ///< a multiply-add is two
};

struct Kernels {
  std::string_view name;         ///< Highway's name of the instruction set
  std::size_t vector_bytes = 0;  ///< width of one load
  /// Loads every byte once and returns the sum of all 64-bit words; `ahead` bytes are asked for in advance (0: left to
  /// the hardware).
  std::uint64_t (*read)(const void* data, std::size_t bytes, std::size_t ahead) = nullptr;
  /// The same in any way and `times` over without a break: a small buffer does not pay for the end of each pass. Only
  /// the first pass adds up, the others load: adding takes longer than the first cache does.
  std::uint64_t (*read_again)(const void* data, std::size_t bytes, const ReadWay& way, std::size_t times) = nullptr;
  /// Sets every 64-bit word to `word`.
  void (*write)(void* data, std::size_t bytes, std::uint64_t word, Store store) = nullptr;
  void (*copy)(void* to, const void* from, std::size_t bytes, Store store) = nullptr;
  /// a = b + 3 · c on doubles.
  void (*triad)(double* a, const double* b, const double* c, std::size_t bytes, Store store) = nullptr;
  PeakKernel f64, f32;
};

/// The widest version this processor runs.
[[nodiscard]] const Kernels& best_kernels();
/// Highway's narrowest version on this architecture, for comparison and for tests.
[[nodiscard]] const Kernels& narrow_kernels();

/// All arithmetic peaks this processor can be asked for: f64, f32, then fp16, bf16 and int8 dot products where the
/// processor and the operating system have them (x86 with AVX-512; other processors answer f64 and f32 alone).
[[nodiscard]] std::vector<PeakKernel> peak_kernels();

/// Follows `steps` pointers from `start`; returns where it ended.
[[nodiscard]] const void* chase(const void* start, std::size_t steps);
/// `count` (1 … 64) independent chases in turn, `steps` loads each; `places` holds their starts and receives their
/// ends.
void chase_many(const void** places, std::size_t count, std::size_t steps);
/// Writes one random cycle through all `bytes / stride` places of `data` (a pointer at the start of each); the same
/// `seed` gives the same cycle. `stride` is at least 8 and a multiple of 8.
void link_cycle(void* data, std::size_t bytes, std::size_t stride, std::uint64_t seed);

}  // namespace corridor::measure
