// SPDX-License-Identifier: Apache-2.0
// Divides what a kernel did by what each part of the machine can do; the longest time is the wall it hits.
#include "corridor/ptx/timing/placement.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace corridor::ptx {
namespace {

double number(std::uint64_t count) {
  return static_cast<double>(count);
}
double ratio(double a, double b) {
  return b > 0 ? a / b : 0;
}

/// Everything the roofs need, made once.
struct Kernel {
  const Counters& counters;
  const Machine& machine;
  double flops = 0;
  double blocks = 0;
  double of_busiest = 0;  ///< share of all work that the SM with most blocks does
  std::vector<Roof> roofs;

  /// `work` at `per_second` on the whole device.
  void device_roof(std::string_view name, double work, double per_second, std::string_view unit, bool memory = false) {
    if (!(work > 0) || !(per_second > 0)) return;
    roofs.push_back({std::string(name), work / per_second, work, std::string(unit), memory ? ratio(flops, work) : 0});
  }
  /// `work` of all SMs at `per_clock` on each.
  void sm_roof(std::string_view name, double work, double per_clock, std::string_view unit, bool memory = false) {
    device_roof(name, work, ratio(per_clock * machine.clock_hz, of_busiest), unit, memory);
  }
};

double sm_count(const Machine& machine) {
  return std::max<double>(1, machine.sm_count);
}

void issue_and_pipes(Kernel& kernel) {
  const Counters& c = kernel.counters;
  kernel.sm_roof("issue slots", std::max(c.issue_slots, number(c.warp_instructions)), kernel.machine.schedulers,
                 "warp instructions");
  constexpr std::pair<Pipe, std::string_view> pipes[] = {{Pipe::alu, "ALU pipe"},    {Pipe::fma, "FP32 pipe"},
                                                         {Pipe::fp16, "FP16 pipe"},  {Pipe::fp64, "FP64 pipe"},
                                                         {Pipe::xu, "XU pipe"},      {Pipe::lsu, "load and store pipe"},
                                                         {Pipe::tex, "texture pipe"}};
  for (const auto& [pipe, name] : pipes) {
    const auto i = static_cast<std::size_t>(pipe);
    kernel.sm_roof(name, number(c.by_pipe[i]), kernel.machine.lanes_per_clock[i] / warp_lanes, "warp instructions");
  }
}

/// Tensor rate of a source type against f16: half the bits, twice the products.
double tensor_speed(Type type) {
  switch (type) {
    case Type::tf32:
    case Type::f32:
      return 0.5;
    case Type::e4m3:
    case Type::e5m2:
    case Type::e4m3x2:
    case Type::e5m2x2:
    case Type::s8:
    case Type::u8:
      return 2;
    default:
      return 1;
  }
}

void tensor(Kernel& kernel) {
  double as_f16 = 0;  // f16 operations that take as long
  double vector_f64 = 0;
  for (std::size_t i = 0; i < kernel.counters.tensor_flops.size(); ++i) {
    const auto type = static_cast<Type>(i);
    const double flops = number(kernel.counters.tensor_flops[i]);
    if (type == Type::f64) {
      vector_f64 = flops;
    } else {
      as_f16 += flops / tensor_speed(type);
    }
  }
  kernel.sm_roof("tensor pipe", as_f16, kernel.machine.tensor_f16_flop_per_clock_sm, "FLOP as f16");
  // A tensor unit with f64 does twice the products of the vector pipe (A100 and H100 datasheets).
  const double fp64_lanes = kernel.machine.lanes_per_clock[static_cast<std::size_t>(Pipe::fp64)];
  kernel.sm_roof("tensor pipe, f64", vector_f64, 2 * 2 * fp64_lanes, "FLOP");
}

double wavefronts_of_lines(const Counters& c) {
  return number(c.global_load.wavefronts + c.global_store.wavefronts + c.global_atomic.wavefronts +
                c.local_load.wavefronts + c.local_store.wavefronts);
}

void memory(Kernel& kernel) {
  const Counters& c = kernel.counters;
  const Machine& m = kernel.machine;
  // A wavefront is a clock of the data stage; where L1 moves half as much a clock, loads take two.
  const double slow = std::max(1.0, ratio(line_bytes, m.l1_bytes_per_clock_sm));
  const double shared = number(c.shared_load.wavefronts + c.shared_store.wavefronts + c.shared_atomic.wavefronts);
  kernel.sm_roof("L1 and shared memory", (wavefronts_of_lines(c) * slow + shared) * line_bytes, line_bytes, "B", true);
  const double l2 =
      sector_bytes * number(c.cache.l2_read_sectors + c.cache.l2_write_sectors + c.cache.l2_atomic_sectors);
  kernel.sm_roof("path from SM to L2", l2, m.l2_bytes_per_clock_sm, "B", true);
  kernel.device_roof("L2 bandwidth", l2, m.l2_bytes_per_s, "B", true);
  const double dram = sector_bytes * number(c.cache.dram_read_sectors + c.cache.dram_write_sectors);
  kernel.device_roof("DRAM bandwidth", dram, m.dram_bytes_per_s, "B", true);
}

/// Clocks that a load takes: low as the mean sector, high as the slowest sector of a request.
struct LoadWait {
  double low = 0, high = 0;
};

LoadWait load_wait(const Counters& c, const Machine& m) {
  const CacheCounters& cache = c.cache;
  if (cache.l1_sectors + cache.l2_read_sectors + cache.l2_atomic_sectors == 0) {
    return {m.l1_latency_clocks, m.dram_latency_clocks};  // caches were not modelled
  }
  const double asked = number(std::max(cache.l1_sectors, cache.l2_read_sectors) + cache.l2_atomic_sectors);
  const double beyond_l1 = number(cache.l2_read_sectors + cache.l2_atomic_sectors);
  const double beyond_l2 = std::min(number(cache.dram_read_sectors), beyond_l1);
  const double requests = number(c.global_load.requests + c.local_load.requests + c.global_atomic.requests);
  const auto wait = [&](double of) {
    const double to_l2 = std::min(1.0, ratio(beyond_l1, of)), to_dram = std::min(1.0, ratio(beyond_l2, of));
    return m.l1_latency_clocks + to_l2 * (m.l2_latency_clocks - m.l1_latency_clocks) +
           to_dram * (m.dram_latency_clocks - m.l2_latency_clocks);
  };
  return {wait(asked), wait(requests > 0 ? requests : asked)};
}

/// Clocks from a block's place being free to its end, alone on the device.
LoadWait life_of_warp(const Counters& c, const Machine& m, double loads_per_wait) {
  const double warps = std::max(1.0, number(c.warps));
  const double instructions = std::max(c.issue_slots, number(c.warp_instructions)) / warps;
  const double loads = number(c.global_load.requests + c.local_load.requests + c.global_atomic.requests) / warps;
  const double shared = number(c.shared_load.requests + c.shared_atomic.requests + c.shuffles) / warps;
  const LoadWait wait = load_wait(c, m);
  const double known = std::max(0.0, loads_per_wait);
  constexpr double many = 8;  // loads that compilers have under way at most, in unrolled loops
  const double together = known > 0 ? known : many;
  const double waits_low = std::max(std::min(loads, 1.0), loads / together);
  const double waits_high = loads / std::max(1.0, known);
  return {m.block_start_clocks + instructions + waits_low * wait.low + shared / many * m.shared_latency_clocks,
          m.block_start_clocks + instructions * m.alu_latency_clocks + waits_high * wait.high +
              shared * m.shared_latency_clocks + number(c.barriers) / warps * m.barrier_clocks};
}

/// Little's law: a place for a block is taken one block after the other, each for its life.
LoadWait latency(const Kernel& kernel, const Occupancy& occupancy, double loads_per_wait) {
  const double places = std::max<double>(1, occupancy.blocks);
  const double of_sm = std::ceil(kernel.blocks / sm_count(kernel.machine));
  const LoadWait life = life_of_warp(kernel.counters, kernel.machine, loads_per_wait);
  const double clock = kernel.machine.clock_hz;
  return {ratio(std::max(1.0, of_sm / places) * life.low, clock), ratio(std::ceil(of_sm / places) * life.high, clock)};
}

}  // namespace

Placement place(const Counters& counters, const BlockNeeds& needs, const Occupancy& occupancy, const Machine& machine,
                double loads_per_wait) {
  (void)needs;  // the occupancy says what they come to
  Placement out;
  out.occupancy = occupancy;
  out.launch_s = machine.launch_s;
  Kernel kernel{counters, machine, counters.flops(), std::max(1.0, number(counters.blocks)), 0, {}};
  kernel.of_busiest = std::ceil(kernel.blocks / sm_count(machine)) / kernel.blocks;
  issue_and_pipes(kernel);
  tensor(kernel);
  memory(kernel);
  kernel.device_roof("block launch", number(counters.blocks), machine.blocks_per_clock * machine.clock_hz, "blocks");
  double longest = 0;
  for (const Roof& roof : kernel.roofs) longest = std::max(longest, roof.time_s);

  const LoadWait wait = latency(kernel, occupancy, loads_per_wait);
  kernel.device_roof("latency", number(counters.warps), ratio(number(counters.warps), wait.low), "warps");
  std::stable_sort(kernel.roofs.begin(), kernel.roofs.end(),
                   [](const Roof& a, const Roof& b) { return a.time_s > b.time_s; });
  out.roofs = std::move(kernel.roofs);
  const double least = out.roofs.empty() ? 0 : out.roofs.front().time_s;
  out.bound = out.roofs.empty() || machine.launch_s > least ? "launch" : out.roofs.front().name;
  out.low_s = machine.launch_s + least;
  out.high_s = machine.launch_s + longest + wait.high;

  const auto at_once = std::max<std::uint64_t>(1, std::uint64_t{occupancy.blocks} * machine.sm_count);
  if (counters.blocks > 0) {
    out.waves = (counters.blocks - 1) / at_once + 1;
    out.last_wave_share = number((counters.blocks - 1) % at_once + 1) / number(at_once);
  }
  out.flop_per_s = ratio(kernel.flops, out.low_s);
  out.fraction_of_roof = ratio(least, out.low_s);
  return out;
}

}  // namespace corridor::ptx
