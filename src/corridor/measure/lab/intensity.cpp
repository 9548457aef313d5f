// SPDX-License-Identifier: Apache-2.0
// One read, one operation … one read, a thousand operations: the roofline of this machine, point by point.
#include "corridor/measure/lab/intensity.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include <fmt/format.h>

#include "corridor/measure/cpu/memory.h"
#include "corridor/measure/lab/lab_kernels.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

constexpr double most_over = 1.15;   // the ladder's own uncertainty
constexpr double least_part = 0.75;  // of what memory and arithmetic reach one after the other

}  // namespace

double intensity_operations(std::size_t steps) {
  return 2 * static_cast<double>(steps) + 1;
}

LabReading intensity_reading(const LabMachine& machine, std::size_t steps) {
  const double flop = intensity_operations(steps);
  const double memory = sizeof(float) / machine.bandwidth().value();
  const double arithmetic = flop / machine.fp32.value();
  LabReading out;
  out.what = fmt::format("{:.0f} operation{} a value", flop, flop > 1 ? "s" : "");
  out.series = "FLOP/s";
  out.x = flop / sizeof(float);
  out.unit = LabUnit::flop_per_second;
  out.predicted = flop / std::max(memory, arithmetic);
  out.low = least_part * flop / (memory + arithmetic);
  out.high = most_over * *out.predicted;
  return out;
}

LabResult intensity_claim(const LabMachine& machine) {
  LabResult out;
  out.x_label = "FLOP a byte";
  out.y_label = "FLOP/s";
  out.formulas.push_back(fmt::format("time = max(bytes ÷ {}, FLOP ÷ {}); ridge {:.3g} FLOP/B",
                                     units::print(machine.bandwidth()), units::print(machine.fp32), machine.ridge()));
  out.tolerance =
      "at most 15 % above the roof; at least 75 % of what memory and arithmetic reach when they do not overlap";
  return out;
}

Result<LabResult> run_intensity(const LabContext& context) {
  const LabMachine& machine = context.machine;
  LabResult out = intensity_claim(machine);
  const std::size_t bytes = machine.beyond_caches();
  const Memory memory(bytes);
  if (memory.data() == nullptr) return no_memory("intensity", static_cast<double>(bytes));
  auto* data = reinterpret_cast<float*>(memory.data());
  const std::size_t count = bytes / sizeof(float);
  fill_values(context.team, data, count, lab_grain, 0, 1);

  std::atomic<int> sink{0};
  std::vector<std::function<void()>> variants;
  for (const std::size_t step : intensity_steps) {
    out.readings.push_back(intensity_reading(machine, step));
    variants.emplace_back([&, step] {
      context.team.run([&](int index) {
        const Part part = part_of(count, lab_grain, index, context.team.size());
        if (lab_kernels().intensity(data + part.begin, part.size(), step) > 0) ++sink;
      });
    });
  }
  // A pass that waits for arithmetic leaves memory idle, and the next one starts slowly (here by a quarter): every pass
  // follows one that reads, as those of the ladder do.
  const auto keep_memory_busy = [&] { read_all(context, memory.data(), bytes); };
  const auto samples = time_in_turn(context.settings(4, 3), context.clock, variants, keep_memory_busy);
  if (!samples) return tl::unexpected(samples.error());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    LabReading& r = out.readings[i];
    take_rate(r, (*samples)[i], intensity_operations(intensity_steps[i]) * static_cast<double>(count));
    out.points.push_back({r.what, r.x, r.measured});
  }
  if (sink == 0) out.notes.emplace_back("The sums came out as zero: the loops did not do their work");
  return out;
}

}  // namespace corridor::measure
