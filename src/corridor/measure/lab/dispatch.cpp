// SPDX-License-Identifier: Apache-2.0
// Small tasks against the cost of starting one, alone and many in one start.
#include <algorithm>
#include <atomic>
#include <cmath>

#include <fmt/format.h>

#include "corridor/measure/lab/experiment.h"
#include "corridor/measure/lab/lab_kernels.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

constexpr std::size_t values = 256;  // of one thread: stays in the nearest cache
constexpr double sizes[] = {0.1, 1, 10, 100};
constexpr double many = 64;

/// Multiply-add steps over `values` that last `seconds` on one thread.
std::size_t steps_for(const LabMachine& machine, double seconds) {
  const double flop = seconds * machine.fp32.value() / machine.threads;
  return static_cast<std::size_t>(std::max(1.0, std::round((flop / static_cast<double>(values) - 1) / 2)));
}

double work_time(const LabMachine& machine, std::size_t steps) {
  return (2 * static_cast<double>(steps) + 1) * static_cast<double>(values) * machine.threads / machine.fp32.value();
}

}  // namespace

Result<LabResult> run_dispatch(const LabContext& context) {
  const LabMachine& machine = context.machine;
  const double floor = machine.dispatch.value();
  const double unit = std::max(floor, 1e-6);  // one thread alone starts nothing: its tasks still need a size
  LabResult out;
  out.x_label = "work of a task, in starts";
  out.y_label = "seconds";
  out.formulas.push_back(fmt::format("time of a task = {} to start it on {} threads + FLOP ÷ {}",
                                     units::print(machine.dispatch), machine.threads, units::print(machine.fp32)));
  out.formulas.push_back(
      fmt::format("{0:.0f} tasks: {0:.0f} × (start + work) one by one, start + {0:.0f} × work in one", many));
  out.tolerance = "half to twice the prediction: waking a thread varies much from start to start";
  constexpr double fastest = 0.5;
  constexpr double slowest = 2.0;
  std::vector<float> data(values * static_cast<std::size_t>(context.team.size()), 0.5F);
  std::atomic<int> sink{0};
  const auto run_tasks = [&](std::size_t steps, double repeats) {
    context.team.run([&](int index) {
      for (double i = 0; i < repeats; ++i) {
        const float* mine = data.data() + static_cast<std::size_t>(index) * values;
        if (lab_kernels().intensity(mine, values, steps) > 0) sink.store(1, std::memory_order_relaxed);
      }
    });
  };
  for (const double size : sizes) {
    const std::size_t steps = steps_for(machine, size * unit);
    LabReading r = reading(fmt::format("a task of {:g} starts", size), LabUnit::seconds,
                           floor + work_time(machine, steps), fastest, slowest);
    r.series = "time of a task";
    r.x = size;
    const auto samples = time_passes(context.settings(0.2), context.clock, [&](double repeats) {
      for (double i = 0; i < repeats; ++i) run_tasks(steps, 1);
    });
    if (!samples) return tl::unexpected(samples.error());
    take_time(r, *samples);
    out.readings.push_back(std::move(r));
  }
  const std::size_t steps = steps_for(machine, sizes[0] * unit);
  const double work = work_time(machine, steps);
  LabReading gain = reading(fmt::format("{:.0f} small tasks one by one ÷ in one", many), LabUnit::ratio,
                            many * (floor + work) / (floor + many * work), fastest, slowest);
  const auto samples = time_in_turn(context.settings(0.3), context.clock,
                                    {[&] {
                                       for (double i = 0; i < many; ++i) run_tasks(steps, 1);
                                     },
                                     [&] { run_tasks(steps, many); }});
  if (!samples) return tl::unexpected(samples.error());
  take_time(gain, (*samples)[0]);
  gain.measured = (*samples)[0].median / (*samples)[1].median;
  out.readings.push_back(std::move(gain));
  return out;
}

}  // namespace corridor::measure
