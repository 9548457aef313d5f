// SPDX-License-Identifier: Apache-2.0
// What `corridor measure` found out about one processor or GPU, each figure with its spread and how it was taken.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "corridor/hardware/device.h"
#include "corridor/units/units.h"

namespace corridor::measure {

/// How long a measurement may take: quick under 20 s, normal under 2 min, thorough as long as it needs.
enum class Effort { quick, normal, thorough };

struct MeasureSettings {
  Effort effort = Effort::normal;
  units::Bytes memory;  ///< largest working set; zero: what the effort asks for
};

/// Told what is being measured and the fraction that is done (0 … 1); may be empty.
using Progress = std::function<void(std::string_view what, double done)>;

/// One measured figure. `spread` is (90th − 10th percentile) ÷ median over the passes; of two looks, also how far apart
/// they are.
struct Figure {
  double value = 0;  ///< SI unit of its name
  double spread = 0;
  int passes = 0;
  std::string how;  ///< kernel, threads, width: "read, 2 threads, avx512f"
};

/// Two looks at one rate: what disturbs a machine makes it slower, so the faster one counts, and the spread covers
/// both.
[[nodiscard]] Figure better_of(const Figure& first, const Figure& again);

/// One size of the curve; every figure may be missing (a kind that was not asked for, or no memory for it).
struct CurvePoint {
  units::Bytes size;  ///< working set of all `threads` together, each on its own equal part
  int threads = 1;
  std::optional<Figure> read, write, copy, triad;  ///< bytes/s, all threads together, bytes the program moves
  std::optional<Figure> latency;                   ///< seconds from load to use
};

struct MeasuredLevel {
  std::string level;                     ///< "L1", "L2", "L3", "main memory", "shared memory"
  units::Bytes capacity;                 ///< found from the curve; of all instances together
  std::optional<units::Bytes> reported;  ///< what the system says; of all instances together
  double instances = 1;                  ///< caches of this level on the device: one a core, one a socket
  std::optional<Figure> bandwidth;       ///< bytes/s, best read figure inside the level, all cores
  std::optional<Figure> latency;         ///< seconds
};

struct MeasuredPeak {
  hardware::ComputeType type = hardware::ComputeType::fp32;
  Figure flop_per_s;
  std::string unit_name;  ///< "avx512f", "mma.sync", "cuBLASLt"
};

struct MainMemory {
  std::optional<Figure> read, write, copy, triad;  ///< bytes/s
  int threads_to_saturate = 1;                     ///< fewest threads within 5 % of the best read rate
};

struct Measurement {
  std::string on;           ///< "cpu", "cuda:0"
  std::string device_name;  ///< as the system or the driver prints it
  std::vector<CurvePoint> curve;
  std::vector<MeasuredLevel> ladder;  ///< nearest first
  std::vector<MeasuredPeak> peaks;
  MainMemory main_memory;
  std::optional<Figure> launch;        ///< seconds: dispatch of one task to waiting threads, or one eager launch
  std::optional<Figure> launch_graph;  ///< seconds a kernel replayed from a graph
  std::optional<Figure> all_reduce;    ///< seconds, smallest message, when there are several GPUs
  hardware::Device device;             ///< all of this as a device, basis measured
  std::vector<std::pair<std::string, std::string>> conditions;  ///< clocks, threads, compiler, driver, date …
  std::vector<std::string> warnings;  ///< virtual machine, busy neighbour, container limit, clock drift
  [[nodiscard]] std::optional<double> ridge_flop_per_byte() const;  ///< best 16- or 32-bit peak ÷ main memory read
};

}  // namespace corridor::measure
