// SPDX-License-Identifier: Apache-2.0
// Adjacent, strided and scattered reads of the same memory: the waste of a line.
#include <algorithm>
#include <atomic>
#include <bit>

#include <fmt/format.h>

#include "corridor/measure/cpu/kernels.h"
#include "corridor/measure/cpu/memory.h"
#include "corridor/measure/lab/experiment.h"
#include "corridor/measure/lab/lab_kernels.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

constexpr std::size_t strides[] = {1, 2, 4, 8, 16};
constexpr std::size_t value_bytes = sizeof(std::uint32_t);
constexpr double line_bytes = 64;

std::vector<LabReading> predictions(const LabMachine& machine) {
  constexpr double fastest = 0.75;
  constexpr double slowest = 1.25;
  std::vector<LabReading> out;
  for (const std::size_t stride : strides) {
    const double memory = std::min(static_cast<double>(stride * value_bytes), line_bytes) / machine.bandwidth().value();
    // The strided loops load and add value by value, one a cycle; the adjacent one takes whole vectors.
    const double loop = stride == 1 ? 0 : 1 / (machine.clock.value() * machine.threads);
    out.push_back(reading(stride == 1 ? "adjacent" : fmt::format("every {}{} value", stride, stride == 2 ? "nd" : "th"),
                          LabUnit::seconds, std::max(memory, loop), fastest, 1));
    out.back().low = fastest * memory;
    out.back().high = slowest * (memory + loop);
    out.back().series = "time a value used";
    out.back().x = static_cast<double>(stride);
  }
  LabReading scattered;
  scattered.what = "one value of each line, scattered";
  scattered.predicted = line_bytes / machine.bandwidth().value();
  scattered.low = fastest * *scattered.predicted;
  scattered.high = machine.main_memory().latency.value() / machine.threads;
  out.push_back(scattered);
  constexpr double ratio_tolerance = 0.25;
  out.push_back(reading("every 16th ÷ adjacent", LabUnit::ratio, 16, 1 - ratio_tolerance, 1 + ratio_tolerance));
  return out;
}

}  // namespace

Result<LabResult> run_order(const LabContext& context) {
  const LabMachine& machine = context.machine;
  LabResult out;
  out.x_label = "stride in 4-byte values";
  out.y_label = "seconds a value used";
  out.formulas.push_back(
      fmt::format("time a value used = min(4 B × stride, 64 B) ÷ {}", units::print(machine.bandwidth())));
  out.formulas.push_back(fmt::format("scattered: between 64 B ÷ {} and one latency, {} ÷ {} threads",
                                     units::print(machine.bandwidth()), units::print(machine.main_memory().latency),
                                     machine.threads));
  out.formulas.push_back(fmt::format("a strided loop takes a cycle a value beside that: 1 ÷ ({} × {} threads)",
                                     units::print(machine.clock), machine.threads));
  out.tolerance =
      "0.75 times the memory's time at least; at most 25 % above memory and loop one after the other; the ratio within "
      "25 % of 16; scattered reads inside their two bounds";
  out.readings = predictions(machine);

  const auto threads = static_cast<std::size_t>(context.team.size());
  // A power of two a thread, so that the scattered order meets every line once.
  const std::size_t each = std::bit_floor(machine.beyond_caches() / threads);
  const Memory memory(each * threads);
  if (memory.data() == nullptr) return no_memory("order", static_cast<double>(each * threads));
  std::byte* data = memory.data();
  context.team.run(
      [&](int index) { best_kernels().write(data + static_cast<std::size_t>(index) * each, each, 1, Store::cached); });
  std::atomic<std::uint64_t> sink{0};
  const auto on_all = [&](const auto& work) {
    return [&, work] {
      context.team.run([&](int index) { sink += work(data + static_cast<std::size_t>(index) * each); });
    };
  };
  std::vector<std::function<void()>> variants = {
      on_all([each](const std::byte* mine) { return best_kernels().read(mine, each, 0); })};
  for (std::size_t i = 1; i < std::size(strides); ++i) {
    const std::size_t stride = strides[i];
    variants.push_back(on_all([each, stride](const std::byte* mine) {
      return std::uint64_t{sum_strided(reinterpret_cast<const std::uint32_t*>(mine), each / value_bytes, stride)};
    }));
  }
  variants.push_back(on_all([each](const std::byte* mine) {
    return std::uint64_t{sum_scattered(reinterpret_cast<const std::uint32_t*>(mine), each / 64)};
  }));
  const auto samples = time_in_turn(context.settings(1, 3), context.clock, variants);
  if (!samples) return tl::unexpected(samples.error());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const double stride = i < std::size(strides) ? static_cast<double>(strides[i]) : line_bytes / value_bytes;
    const double used = static_cast<double>(each * threads) / value_bytes / stride;
    take_time(out.readings[i], (*samples)[i]);
    out.readings[i].measured /= used;
  }
  LabReading& ratio = out.readings.back();
  take_time(ratio, (*samples)[4]);
  ratio.measured = out.readings[4].measured / out.readings[0].measured;
  if (sink == 0) out.notes.emplace_back("The sums came out as zero: the loops did not do their work");
  return out;
}

}  // namespace corridor::measure
