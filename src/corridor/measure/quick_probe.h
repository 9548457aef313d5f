// SPDX-License-Identifier: Apache-2.0
// Two quick measurements of a processor: how fast all its cores together read main memory, and how many FP32
// multiply-adds they do in registers. Half a second in all; `corridor measure` takes longer and knows more.
#pragma once

#include <memory>
#include <string>

#include "corridor/base/result.h"
#include "corridor/measure/clock.h"
#include "corridor/units/units.h"

namespace corridor::measure {

struct ReadBandwidth {
  units::BytesPerSecond best;
  units::Bytes buffer;  ///< read in each sweep
  int threads = 1;
  int passes = 0;
  /// The buffer is not twice the last-level cache: part of the reads may have come from the cache.
  bool near_cache = false;
};

struct FmaPeak {
  units::FlopsPerSecond best;
  int threads = 1;
  int passes = 0;
  std::string vectors;  ///< "avx512", "avx2", "neon" …
};

struct BandwidthRequest {
  units::Bytes last_level_cache;  ///< all of them together; zero when not known
  units::Bytes memory_available;
  int threads = 1;
  units::Seconds budget{0.25};       ///< for the passes
  units::Seconds fill_budget{0.25};  ///< for filling the buffer; where that is slower, a part of it is used
};

/// Bytes of the buffer: four times the last-level cache, at least 128 MiB, at most 512 MiB and at most a quarter of the
/// free memory. Zero when less than 8 MiB is left by that rule.
[[nodiscard]] units::Bytes probe_buffer_size(units::Bytes last_level_cache, units::Bytes memory_available);

/// Best read rate over a buffer that each thread filled itself. Fails when there is no memory for it or the clock does
/// not move.
[[nodiscard]] Result<ReadBandwidth> probe_read_bandwidth(const BandwidthRequest& request, const Clock& clock);

/// Best rate of FP32 multiply-adds in registers, all threads together (vector units only, no matrix units).
[[nodiscard]] Result<FmaPeak> probe_fma_peak(int threads, units::Seconds budget, const Clock& clock);

/// The probes as `local_device` asks for them, so that tests can answer in their place.
class Prober {
 public:
  Prober() = default;
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;
  virtual ~Prober() = default;
  [[nodiscard]] virtual Result<ReadBandwidth> read_bandwidth(const BandwidthRequest& request) const = 0;
  [[nodiscard]] virtual Result<FmaPeak> fma_peak(int threads) const = 0;
  [[nodiscard]] virtual std::string today() const = 0;
};

/// Measures this machine with the system's clock.
[[nodiscard]] std::unique_ptr<Prober> system_prober();

}  // namespace corridor::measure
