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

/// Multiply-add steps over `values` that last about `seconds` on one thread.
std::size_t steps_for(const LabMachine& machine, double seconds) {
  const double flop = seconds * machine.fp32.value() / machine.threads;
  return static_cast<std::size_t>(std::max(1.0, std::round((flop / static_cast<double>(values) - 1) / 2)));
}

/// What the experiment adds to the ladder before it runs: the start of the team that it uses, and the work of a task on
/// one thread, so that a short loop's entry and exit are in the prediction.
struct Costs {
  double start_s = 0;
  std::vector<double> work_s;  ///< a size
};

Result<double> work_alone(const LabContext& context, const float* data, std::size_t steps) {
  float sum = 0;
  const auto samples = time_passes(context.settings(0.05), context.clock, [&](double repeats) {
    for (double i = 0; i < repeats; ++i) sum += lab_kernels().intensity(data, values, steps);
  });
  if (!samples) return tl::unexpected(samples.error());
  volatile float kept = sum;
  static_cast<void>(kept);
  return samples->median.value();
}

Result<Costs> measure_costs(const LabContext& context, const float* data, double unit) {
  Costs costs;
  const Result<Samples> start = measure_dispatch(context.team, context.clock, units::Seconds{0.1 * context.effort});
  if (!start) return tl::unexpected(start.error());
  costs.start_s = start->median.value();
  for (const double size : sizes) {
    const Result<double> work = work_alone(context, data, steps_for(context.machine, size * unit));
    if (!work) return tl::unexpected(work.error());
    costs.work_s.push_back(*work);
  }
  return costs;
}

}  // namespace

Result<LabResult> run_dispatch(const LabContext& context) {
  const LabMachine& machine = context.machine;
  const double unit = std::max(machine.dispatch.value(), 1e-6);  // shorter tasks are not timed well
  std::vector<float> data(values * static_cast<std::size_t>(context.team.size()), 0.5F);
  const Result<Costs> costs = measure_costs(context, data.data(), unit);
  if (!costs) return tl::unexpected(costs.error());
  const double floor = costs->start_s;
  LabResult out;
  out.x_label = "work of a task, seconds";
  out.y_label = "seconds";
  out.formulas.push_back(fmt::format("time of a task = {} to start it on {} threads + its work on one",
                                     units::print(units::Seconds{floor}), machine.threads));
  out.formulas.push_back(
      fmt::format("{0:.0f} tasks: {0:.0f} × (start + work) one by one, start + {0:.0f} × work in one", many));
  out.tolerance =
      "0.75 times the prediction at least; at most twice it, because each task that works leaves its threads to be "
      "called again from different moments, and the last one ends the task";
  constexpr double fastest = 0.75;
  constexpr double slowest = 2.0;
  std::atomic<int> sink{0};
  const auto run_tasks = [&](std::size_t steps, double repeats) {
    context.team.run([&](int index) {
      for (double i = 0; i < repeats; ++i) {
        const float* mine = data.data() + static_cast<std::size_t>(index) * values;
        if (lab_kernels().intensity(mine, values, steps) > 0) sink.store(1, std::memory_order_relaxed);
      }
    });
  };
  for (std::size_t at = 0; at < std::size(sizes); ++at) {
    const std::size_t steps = steps_for(machine, sizes[at] * unit);
    LabReading r = reading(fmt::format("a task of {}", units::print(units::Seconds{sizes[at] * unit})),
                           LabUnit::seconds, floor + costs->work_s[at], fastest, slowest);
    r.series = "time of a task";
    r.x = sizes[at] * unit;
    const auto samples = time_passes(context.settings(0.2), context.clock, [&](double repeats) {
      for (double i = 0; i < repeats; ++i) run_tasks(steps, 1);
    });
    if (!samples) return tl::unexpected(samples.error());
    take_time(r, *samples);
    out.readings.push_back(std::move(r));
  }
  const std::size_t steps = steps_for(machine, sizes[0] * unit);
  const double work = costs->work_s.front();
  LabReading gain = reading(fmt::format("{:.0f} small tasks one by one ÷ in one", many), LabUnit::ratio,
                            many * (floor + work) / (floor + many * work), 0.5, slowest);
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
