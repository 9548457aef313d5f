// SPDX-License-Identifier: Apache-2.0
// On a GPU: small kernels against the cost of starting one, one by one, in one launch, and from a graph.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "corridor/measure/cuda/graph.h"
#include "corridor/measure/lab/gpu/gpu_lab.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

constexpr double flop_a_block_round = 2.0 * 64 * 256;  // multiply_add_f32: 64 multiply-adds a thread and round
constexpr unsigned tasks = 64;

struct GpuTask {
  std::uint32_t rounds = 1;
  double work_s = 0;
};

/// A kernel on all SMs whose multiply-adds last about `seconds`.
GpuTask task_of(const GpuLabContext& context, double seconds) {
  const double round = flop_a_block_round * blocks_per_sm(context, 4).blocks / context.machine.fp32.value();
  GpuTask task;
  task.rounds = static_cast<std::uint32_t>(std::clamp(std::round(seconds / round), 1.0, 1e8));
  task.work_s = task.rounds * round;
  return task;
}

Result<void> start_task(const GpuLabContext& context, std::uint32_t rounds) {
  return context.gpu.launch("multiply_add_f32", blocks_per_sm(context, 4), rounds, 0.75F, 0.5F, cuda::DevicePointer{0});
}

Result<void> start_row(const GpuLabContext& context, std::uint32_t rounds) {
  for (unsigned i = 0; i < tasks; ++i) {
    if (auto done = start_task(context, rounds); !done) return done;
  }
  return {};
}

/// 64 small tasks replayed from a graph; left out with a note where the driver has no graphs.
Result<void> add_graph(const GpuLabContext& context, const GpuTask& task, LabResult& out) {
  constexpr double slowest = 1.5;  // a kernel's own start and end on the SMs are not in the prediction
  const double node = context.machine.gpu->graph_node.value();
  if (node <= 0 || !cuda::Graph::available(context.gpu.api())) {
    out.notes.emplace_back("This driver has no graphs: the replay is left out");
    return {};
  }
  cuda::Graph graph(context.gpu);
  if (auto done = graph.capture([&] { return start_row(context, task.rounds); }); !done) return done;
  const auto samples = time_on_gpu(context, [&] { return graph.launch(); });
  if (!samples) return tl::unexpected(samples.error());
  LabReading r = reading(fmt::format("{} small tasks from a graph", tasks), LabUnit::seconds,
                         tasks * std::max(node, task.work_s), usual_low, slowest);
  take_time(r, *samples);
  out.readings.push_back(std::move(r));
  return {};
}

}  // namespace

Result<LabResult> run_gpu_dispatch(const GpuLabContext& context) {
  constexpr double sizes[] = {0.1, 1, 10, 100};
  const LabMachine& machine = context.machine;
  const double floor = machine.dispatch.value();
  if (!(floor > 0)) return fail("the cost of a launch was not measured", "lab dispatch", "run corridor measure first");
  LabResult out;
  out.x_label = "work of a task, in launches";
  out.y_label = "seconds";
  out.formulas.push_back(fmt::format("time of a task = max({} to launch it, FLOP ÷ {}): the host launches ahead",
                                     units::print(machine.dispatch), units::print(machine.fp32)));
  out.formulas.push_back(
      fmt::format("{0} tasks: {0} × max(launch, work) one by one, max(launch, {0} × work) in one; "
                  "{0} × max({1}, work) from a graph",
                  tasks, units::print(machine.gpu->graph_node)));
  out.tolerance =
      "0.75 times the longer of the two at least; at most 25 % above both one after the other; the ratio 0.6 to 1.5 "
      "times: a kernel's own start and end are not in it";
  for (const double size : sizes) {
    const GpuTask task = task_of(context, size * floor);
    LabReading r = reading(fmt::format("a task of {:g} launches", size), LabUnit::seconds, std::max(floor, task.work_s),
                           usual_low, usual_high);
    r.high = usual_high * (floor + task.work_s);
    r.series = "time of a task";
    r.x = size;
    const auto samples = time_on_gpu(context, [&] { return start_row(context, task.rounds); });
    if (!samples) return tl::unexpected(samples.error());
    take_time(r, *samples);
    r.measured /= tasks;
    out.readings.push_back(std::move(r));
  }
  const GpuTask small = task_of(context, sizes[0] * floor);
  const auto row = time_on_gpu(context, [&] { return start_row(context, small.rounds); });
  if (!row) return tl::unexpected(row.error());
  const auto one = time_on_gpu(context, [&] { return start_task(context, small.rounds * tasks); });
  if (!one) return tl::unexpected(one.error());
  LabReading gain = reading(fmt::format("{} small tasks one by one ÷ in one", tasks), LabUnit::ratio,
                            tasks * std::max(floor, small.work_s) / std::max(floor, tasks * small.work_s), 0.6, 1.5);
  take_time(gain, *row);
  gain.measured = row->median / one->median;
  out.readings.push_back(std::move(gain));
  if (auto done = add_graph(context, small, out); !done) return tl::unexpected(done.error());
  return out;
}

}  // namespace corridor::measure
