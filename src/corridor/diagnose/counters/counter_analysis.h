// SPDX-License-Identifier: Apache-2.0
// Kernels with hardware counters (Nsight Compute, rocprof-compute) in the hierarchical roofline: the bytes of each
// level of memory and the FLOPs of each type against their roofs, and which roof binds.
//
//   fmha_fwd  grid 416, block 128   7.78 µs   L2 91.1 GB/s   1.7 % of roof   latency-bound: 0.96 waves, occupancy 20 %
//   finding: 5.1 µs lost in fmha_fwd: no roof is near; more blocks in flight
//
// Roofs come from the file where it has them (at the profiled clock, or measured by the profiler's own kernels), else
// from the data sheet, its arithmetic scaled to the profiled clock. Rows of a tool that only times kernels (nsys stats)
// have times and no roofs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/diagnose/finding.h"
#include "corridor/diagnose/trace/kernel_class.h"
#include "corridor/hardware/device.h"
#include "corridor/profile/trace.h"

namespace corridor::diagnose {

/// Memory, from the outside in. `shared`: the shared memory of a compute unit, where the tool counts it apart (AMD).
enum class CounterLevel { dram, l2, l1, shared };
[[nodiscard]] std::string_view name(CounterLevel level);  ///< "DRAM", "L2", "L1", "shared memory"

/// What bounds a kernel. `latency`: no roof is near (below `near_a_roof` of each); `unknown`: no roof is known, or
/// nothing that one could be compared with.
enum class CounterBound { dram, l2, l1, shared, compute, latency, unknown };
[[nodiscard]] std::string_view name(CounterBound bound);  ///< "DRAM", "L2", "L1", "shared memory", "compute", …

/// From this share of a roof on, the roof is what bounds; below it on every roof, latency does.
inline constexpr double near_a_roof = 0.6;

/// Where a roof's height is from.
enum class RoofSource { profile, measured_roofs, data_sheet };
[[nodiscard]] std::string_view name(RoofSource source);  ///< "profiled clock", "profiler's own test", "data sheet"

/// The traffic of one level; of all launches of a row together.
struct LevelUse {
  CounterLevel level = CounterLevel::dram;
  double bytes = 0;
  std::optional<double> bytes_per_s;       ///< bytes ÷ time; empty without a time
  std::optional<double> flop_per_byte;     ///< arithmetic intensity at this level; empty without FLOPs or bytes
  std::optional<double> roof_bytes_per_s;  ///< empty: not known
  RoofSource roof_source = RoofSource::data_sheet;
  std::optional<double> fraction;  ///< bytes_per_s ÷ roof
};

/// Arithmetic of one type; of all launches of a row together.
struct TypeUse {
  std::string type;  ///< "fp32", "fp16 tensor", "int8 tensor" …
  double flops = 0;
  std::optional<double> flop_per_s, roof_flop_per_s, fraction;
  RoofSource roof_source = RoofSource::data_sheet;
};

/// All launches of one kernel with one launch shape.
struct KernelRow {
  std::string kernel;  ///< full name
  std::string label;   ///< the name without name spaces, template arguments and parameters
  std::string shape;   ///< "grid 416, block 128"; empty when the file does not tell
  KernelClass kernel_class = KernelClass::other;
  double launches = 0;
  double time_s = 0;                ///< of all launches; 0 when the file has no time
  double share = 0;                 ///< of the time of all rows
  std::vector<LevelUse> levels;     ///< those the file counts, from the outside in
  std::vector<TypeUse> arithmetic;  ///< types with FLOPs, the most first
  std::optional<double> flops;      ///< sum over the types; 0 is a count, empty is not known
  CounterBound bound = CounterBound::unknown;
  std::string bound_type;                       ///< of compute: the type whose roof it is
  std::optional<double> fraction_of_roof;       ///< the largest fraction over all roofs
  std::optional<double> occupancy;              ///< achieved, 0..1: mean over launches
  std::optional<double> theoretical_occupancy;  ///< what registers, shared memory and block size allow
  std::optional<double> registers, shared_bytes, waves, sm_clock_hz;
  std::vector<std::string> remarks;  ///< causes of what looks impossible, and what weakens the row
  [[nodiscard]] std::optional<double> time_per_launch_s() const {
    return launches > 0 && time_s > 0 ? std::optional(time_s / launches) : std::nullopt;
  }
};

/// What to change, ranked by the time it costs.
struct BoundTotal {
  CounterBound bound = CounterBound::unknown;
  double time_s = 0, kernels = 0, launches = 0;
};

struct CounterAnalysis {
  double kernels = 0;                         ///< rows
  double launches = 0;                        ///< of all rows
  double time_s = 0;                          ///< sum over launches
  bool has_counters = false;                  ///< false: the file only times kernels
  std::vector<KernelRow> rows;                ///< by time, then as in the file
  std::vector<BoundTotal> bounds;             ///< by time
  std::vector<Finding> findings;              ///< by time lost
  CounterBound wall = CounterBound::unknown;  ///< of the most time
  double wall_share = 0;                      ///< of time_s
  std::string sentence;                       ///< the verdict in one line
  std::vector<std::string> caveats;           ///< why these times and rates are not those of production
};

/// Places the counters of a trace. `device` gives the roofs that the file lacks; null: none. Fails in one line when the
/// trace has no counters.
[[nodiscard]] Result<CounterAnalysis> analyse_counters(const profile::Trace& trace, const hardware::Device* device);

}  // namespace corridor::diagnose
