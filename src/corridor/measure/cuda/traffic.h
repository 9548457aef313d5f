// SPDX-License-Identifier: Apache-2.0
// Bytes a second that the SMs move: read, write, copy and triad at any working set, by the best version of each kernel.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/measure/cuda/gpu.h"
#include "corridor/measure/cuda/passes.h"
#include "corridor/measure/measurement.h"

namespace corridor::measure::cuda {

/// `read_l1`: every block reads the whole working set and keeps it in its SM's L1.
enum class Kind { read, write, copy, triad, read_l1 };
[[nodiscard]] std::string_view name(Kind);

/// One way to write the loop: vector width, loads in flight of a thread, and how full an SM is.
struct Version {
  int vector_bytes = 16, unroll = 4;
  unsigned blocks_per_sm = 8, threads = 256;
};

class Traffic {
 public:
  /// `memory` is the buffer that all working sets are cut from, `sink` holds at least 4 bytes.
  Traffic(Gpu& gpu, const Buffer& memory, const Buffer& sink) : gpu_(gpu), memory_(memory), sink_(sink) {}

  /// Fills the buffer with words that look random: (hash & mask) | exponent.
  [[nodiscard]] Result<void> fill(std::uint32_t mask, std::uint32_t exponent) const;
  /// Bytes one repeat moves for a working set of `bytes`.
  [[nodiscard]] double bytes_moved(Kind kind, const Version& version, std::size_t bytes) const;
  /// Starts `repeats` walks over a working set of `bytes` (all arrays together; each is cut to 512 bytes).
  [[nodiscard]] Result<void> walk(Kind kind, const Version& version, std::size_t bytes, unsigned repeats) const;

  /// The versions that are best at `bytes`, best first, at most `count`.
  [[nodiscard]] Result<std::vector<Version>> search(Kind kind, std::size_t bytes, std::size_t count,
                                                    units::Seconds least) const;
  /// The rate at `bytes` by the best of `versions`.
  [[nodiscard]] Result<Figure> rate(Kind kind, const std::vector<Version>& versions, std::size_t bytes,
                                    const EstimatorSettings& settings) const;

 private:
  [[nodiscard]] Result<double> glance_rate(Kind kind, const Version& version, std::size_t bytes,
                                           units::Seconds least) const;
  Gpu& gpu_;
  const Buffer& memory_;
  const Buffer& sink_;
};

}  // namespace corridor::measure::cuda
