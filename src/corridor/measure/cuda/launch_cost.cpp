// SPDX-License-Identifier: Apache-2.0
// Rows of empty kernels between two events; the graph is captured from the same row.
#include "corridor/measure/cuda/launch_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "corridor/measure/cuda/driver_error.h"
#include "corridor/measure/cuda/graph.h"
#include "corridor/measure/cuda/passes.h"

namespace corridor::measure::cuda {
namespace {

constexpr unsigned row = 256;  // below the 1024 launches that a stream holds before the host waits

/// `count` launches without a look into the kernel table: the host's own time must be small beside the driver's.
Result<void> launch_row(Gpu& gpu, FunctionHandle empty, unsigned count) {
  void* none[] = {nullptr};
  for (unsigned i = 0; i < count; ++i) {
    const Status status = gpu.api().launch_kernel(empty, 1, 1, 1, 32, 1, 1, 0, gpu.stream(), none, nullptr);
    if (status != success)
      return tl::unexpected(driver_error(gpu.api(), status, "cuLaunchKernel(empty)", "launch cost"));
  }
  return {};
}

Result<Samples> passes_of(Gpu& gpu, const EstimatorSettings& settings, const std::function<Result<void>()>& work) {
  EstimatorSettings whole = settings;
  whole.least_pass = units::Seconds{0};  // the row is long enough; it is not repeated
  return time_work(gpu, whole, [&](unsigned) { return work(); });
}

Result<std::optional<Figure>> graph_cost(Gpu& gpu, FunctionHandle empty, const EstimatorSettings& settings,
                                         std::vector<std::string>& warnings) {
  if (!Graph::available(gpu.api())) {
    warnings.emplace_back("this driver has no graphs (CUDA 11.4 or newer): launches from a graph are not measured");
    return std::optional<Figure>();
  }
  Graph graph(gpu);
  if (auto done = graph.capture([&] { return launch_row(gpu, empty, row); }); !done) {
    return tl::unexpected(done.error());
  }
  const auto samples = passes_of(gpu, settings, [&] { return graph.launch(); });
  if (!samples) return tl::unexpected(samples.error());
  return std::optional<Figure>(time_figure(row, *samples, fmt::format("empty kernel, graph of {} nodes", row)));
}

Result<Figure> lone_cost(Gpu& gpu, FunctionHandle empty, const EstimatorSettings& settings) {
  const auto with = passes_of(gpu, settings, [&] { return launch_row(gpu, empty, 1); });
  if (!with) return tl::unexpected(with.error());
  units::Seconds nothing;
  for (int pass = 0; pass < settings.least_passes; ++pass) {
    const auto time = gpu.time([]() -> Result<void> { return {}; });
    if (!time) return tl::unexpected(time.error());
    if (pass == 0 || *time < nothing) nothing = *time;
  }
  Figure figure = time_figure(1, *with, "one empty kernel between two events, less the events alone");
  figure.value = std::max(0.0, figure.value - nothing.value());
  return figure;
}

}  // namespace

Result<LaunchCost> measure_launch_cost(Gpu& gpu, const MeasureSettings& settings, std::vector<std::string>& warnings) {
  const Result<FunctionHandle> empty = gpu.kernel("empty");
  if (!empty) return tl::unexpected(empty.error());
  const EstimatorSettings passes = pass_settings(settings.effort);
  const auto eager = passes_of(gpu, passes, [&] { return launch_row(gpu, *empty, row); });
  if (!eager) return tl::unexpected(eager.error());
  LaunchCost cost;
  cost.eager = time_figure(row, *eager, fmt::format("empty kernel, {} launches in a row", row));
  auto graph = graph_cost(gpu, *empty, passes, warnings);
  if (!graph) return tl::unexpected(graph.error());
  cost.graph = std::move(*graph);
  auto alone = lone_cost(gpu, *empty, passes);
  if (!alone) return tl::unexpected(alone.error());
  cost.alone = std::move(*alone);
  return cost;
}

}  // namespace corridor::measure::cuda
