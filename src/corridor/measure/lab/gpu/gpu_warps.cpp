// SPDX-License-Identifier: Apache-2.0
// Warps of a GPU: more loads in flight, warps that take turns at no cost, and lanes that take different paths.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "corridor/measure/cuda/chase.h"
#include "corridor/measure/lab/gpu/gpu_lab.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

using cuda::Buffer;
using cuda::Shape;

}  // namespace

Result<LabResult> run_gpu_chase(const GpuLabContext& context) {
  constexpr std::uint32_t active[] = {1, 4, 16, 64, 256, 1024};
  constexpr std::uint32_t hops = 256;
  constexpr double sector = 32;
  constexpr double wall_low = 0.4;  // random loads take 64 bytes each from main memory, and open a row of it each
  const LabMachine& machine = context.machine;
  const double sms = machine.gpu->sm_count;
  const double wait = machine.main_memory().latency.value();
  const double wall = machine.bandwidth().value() / sector;
  LabResult out;
  out.x_label = "loads in flight an SM";
  out.y_label = "loads a second";
  out.formulas.push_back(fmt::format("loads a second = min(in flight × {} SMs ÷ {}, {} ÷ 32 B)", sms,
                                     units::print(machine.main_memory().latency), units::print(machine.bandwidth())));
  out.tolerance =
      "within 25 % while a quarter of the bandwidth is in use at most; beyond, at least 40 %: main memory hands out 64 "
      "bytes at a time";
  const Result<Buffer> memory = context.gpu.allocate(beyond_l2(machine));
  if (!memory) return tl::unexpected(memory.error());
  const cuda::ChainStep chain = cuda::chain_of(static_cast<double>(memory->bytes()));
  constexpr std::uint64_t pitch = cuda::line_bytes;
  if (auto done =
          context.gpu.launch("build_chain", blocks_per_sm(context, 8), memory->place(), chain.slots, pitch, chain.step);
      !done) {
    return tl::unexpected(done.error());
  }
  for (const std::uint32_t k : active) {
    const double alone = k * sms / wait;
    LabReading r = reading(fmt::format("{} in flight an SM", k), LabUnit::per_second, std::min(alone, wall),
                           alone > wall / 4 ? wall_low : usual_low, usual_high);
    r.series = "loads a second";
    r.x = k;
    const Shape shape{static_cast<unsigned>(sms), std::max(32U, k)};
    const auto samples = time_on_gpu(context, [&] {
      return context.gpu.launch("lab_chases", shape, memory->place(), chain.slots, pitch, k, hops,
                                cuda::DevicePointer{0});
    });
    if (!samples) return tl::unexpected(samples.error());
    take_rate(r, *samples, k * sms * hops);
    out.readings.push_back(std::move(r));
  }
  LabReading hidden = reading("16 in flight ÷ 1: the wait is hidden", LabUnit::ratio,
                              std::min(16 * sms / wait, wall) / (sms / wait), usual_low, usual_high);
  hidden.measured = out.readings[2].measured / out.readings[0].measured;
  LabReading longest;
  longest.what = "wait of one load with 1024 in flight";
  longest.predicted = std::max(wait, 1024 * sms / wall);
  longest.low = 0.85 * wait;  // the claim: never shorter than alone
  longest.measured = 1024 * sms / out.readings.back().measured;
  out.readings.push_back(std::move(hidden));
  out.readings.push_back(std::move(longest));
  return out;
}

Result<LabResult> run_gpu_switch(const GpuLabContext& context) {
  constexpr unsigned warps[] = {1, 2, 4, 8, 16};
  constexpr std::uint32_t hops = 16384;
  const LabMachine& machine = context.machine;
  const LabLevel* shared = machine.find("shared memory");
  if (shared == nullptr) return fail("the ladder has no shared memory", "lab switch", "measure this GPU first");
  const double wait = shared->latency.value() * machine.clock.value();
  LabResult out;
  out.x_label = "warps";
  out.y_label = "cycles for one load of each warp";
  out.formulas.push_back(fmt::format("cycles for one load of each warp = max({} × {} = {:.1f}, warps × 1)",
                                     units::print(shared->latency), units::print(machine.clock), wait));
  out.tolerance = "within 25 %; each further warp costs two cycles at most, so the change of warps costs nothing";
  const Result<Buffer> small = context.gpu.allocate(4096);
  if (!small) return tl::unexpected(small.error());
  for (const unsigned count : warps) {
    LabReading r = reading(fmt::format("{} warp{}", count, count > 1 ? "s" : ""), LabUnit::cycles,
                           std::max<double>(wait, count), usual_low, usual_high);
    r.series = "cycles";
    r.x = count;
    const auto samples = time_on_gpu(context, [&] {
      return context.gpu.launch("lab_switch", Shape{1, 32 * count}, hops, small->place());
    });
    if (!samples) return tl::unexpected(samples.error());
    std::array<std::uint64_t, 2> cycles{};
    if (auto done = context.gpu.read_back(cycles.data(), small->place(), sizeof cycles); !done) {
      return tl::unexpected(done.error());
    }
    take_time(r, *samples);
    r.measured = static_cast<double>(cycles[0]) / hops;
    out.readings.push_back(std::move(r));
  }
  constexpr double most_cycles = 2;
  LabReading change;
  change.what = "cycles that a further warp adds";
  change.unit = LabUnit::cycles;
  change.predicted = std::max(0.0, warps[4] - wait) / (warps[4] - 1);
  change.high = most_cycles;
  change.measured = (out.readings[4].measured - out.readings[0].measured) / (warps[4] - 1);
  out.readings.push_back(std::move(change));
  out.notes.emplace_back("corridor lab switch, on the processor, gives the cycles of a change between two threads");
  return out;
}

Result<LabResult> run_gpu_divergence(const GpuLabContext& context) {
  struct Case {
    std::uint32_t paths;
    bool by_warp;
  };
  constexpr Case cases[] = {{1, false}, {2, false}, {4, false}, {32, false}, {2, true}, {4, true}, {8, true}};
  constexpr std::uint32_t rounds = 500;
  constexpr double flop_a_round = 16 * 2;
  constexpr double issue_share = 1.6;  // the loop's own instructions stand beside its 16 multiply-adds
  const LabMachine& machine = context.machine;
  const Shape shape = blocks_per_sm(context, 8);
  const double flop = flop_a_round * rounds * shape.blocks * shape.threads;
  const double alone = flop / machine.fp32.value();
  LabResult out;
  out.x_label = "paths inside a warp";
  out.y_label = "seconds";
  out.formulas.push_back(fmt::format("one path: {} ÷ {}; P paths inside a warp: P times it; between warps: the same",
                                     units::print(units::Flops{flop}), units::print(machine.fp32)));
  out.tolerance = "one path 0.9 to 1.6 times its multiply-adds; the ratios within 25 %";
  const Result<Buffer> small = context.gpu.allocate(4096);
  if (!small) return tl::unexpected(small.error());
  double one = 0;
  for (const Case& c : cases) {
    const std::string where = c.by_warp ? "between warps" : "inside a warp";
    LabReading r = c.paths == 1 ? reading("one path", LabUnit::seconds, alone, 0.9, issue_share)
                                : reading(fmt::format("{} paths {} ÷ one path", c.paths, where), LabUnit::ratio,
                                          c.by_warp ? 1 : c.paths, usual_low, usual_high);
    const auto samples = time_on_gpu(context, [&] {
      return context.gpu.launch("lab_paths", shape, rounds, c.paths, std::uint32_t{c.by_warp}, small->place());
    });
    if (!samples) return tl::unexpected(samples.error());
    take_time(r, *samples);
    if (c.paths == 1) {
      one = r.measured;
    } else {
      r.measured = one > 0 ? r.measured / one : 0;
    }
    out.readings.push_back(std::move(r));
  }
  return out;
}

}  // namespace corridor::measure
