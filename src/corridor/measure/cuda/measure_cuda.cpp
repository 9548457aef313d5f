// SPDX-License-Identifier: Apache-2.0
// The order of a GPU's measurement, and what is noted beside the figures.
#include "corridor/measure/cuda/measure_cuda.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "corridor/base/assets.h"
#include "corridor/measure/clock.h"
#include "corridor/measure/cuda/all_reduce.h"
#include "corridor/measure/cuda/blas_product.h"
#include "corridor/measure/cuda/driver_error.h"
#include "corridor/measure/cuda/gpu.h"
#include "corridor/measure/cuda/gpu_device.h"
#include "corridor/measure/cuda/gpu_facts.h"
#include "corridor/measure/cuda/health.h"
#include "corridor/measure/cuda/ladder.h"
#include "corridor/measure/cuda/launch_cost.h"
#include "corridor/measure/cuda/peaks.h"

namespace corridor::measure {
namespace {

using namespace cuda;

/// Progress of one part of the whole: from `from` to `to` of it.
Progress part(const Progress& whole, double from, double to) {
  if (!whole) return {};
  return [&whole, from, to](std::string_view what, double done) { whole(what, from + (to - from) * done); };
}

std::string cuda_version(int version) {
  return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

void note_conditions(const Gpu& gpu, const std::string& date, Measurement& m) {
  const GpuFacts& facts = gpu.facts();
  const CudaLibraries& libraries = gpu.libraries();
  m.conditions.emplace_back("date", date);
  m.conditions.emplace_back("driver supports", cuda_version(facts.driver_version));
  m.conditions.emplace_back("driver library", libraries.driver_path);
  m.conditions.emplace_back("compiler", fmt::format("NVRTC {} for {} ({})", nvrtc_version(*libraries.nvrtc.api),
                                                    gpu.target().architecture, libraries.nvrtc.path));
  m.conditions.emplace_back("SMs", std::to_string(facts.sm_count));
  m.conditions.emplace_back("ECC", facts.ecc ? "on" : "off");
  m.conditions.emplace_back("timed by", "events of the GPU; latencies by its own clock");
  if (libraries.blas.api) m.conditions.emplace_back("cuBLASLt", libraries.blas.path);
}

void note_limits(const Gpu& gpu, Measurement& m) {
  if (!gpu.libraries().blas.api)
    m.warnings.push_back("products by cuBLASLt are not measured: the library was not found");
  constexpr int blackwell = 100, first_geforce_blackwell = 120;
  const int capability = gpu.facts().capability();
  if (capability >= blackwell && capability < first_geforce_blackwell) {
    m.warnings.emplace_back("mma.sync does not reach the peak of this GPU's matrix units (tcgen05 is not measured)");
  }
  constexpr int hopper = 90;
  if (capability == hopper && !gpu.target().machine_code) {
    m.warnings.emplace_back("this NVRTC does not know sm_90a: wgmma is not measured");
  }
}

Result<void> measure_launches(Gpu& gpu, const MeasureSettings& settings, Measurement& m) {
  auto cost = measure_launch_cost(gpu, settings, m.warnings);
  if (!cost) return tl::unexpected(cost.error());
  m.launch = std::move(cost->eager);
  m.launch_graph = std::move(cost->graph);
  m.conditions.emplace_back("one empty kernel alone", fmt::format("{:.2f} µs", 1e6 * cost->alone.value));
  return {};
}

Result<void> measure_parts(Gpu& gpu, const MeasureSettings& settings, const Progress& progress, Measurement& m) {
  if (progress) progress("launch cost", 0);
  if (auto done = measure_launches(gpu, settings, m); !done) return done;
  if (auto done = measure_ladder(gpu, settings, part(progress, 0.05, 0.7), m); !done) return done;
  auto peaks = measure_peaks(gpu, settings, part(progress, 0.7, 0.85), m.warnings);
  if (!peaks) return tl::unexpected(peaks.error());
  m.peaks = std::move(*peaks);
  for (MeasuredPeak& peak : measure_blas(gpu, settings, part(progress, 0.85, 0.95), m.warnings)) {
    m.peaks.push_back(std::move(peak));
  }
  std::stable_sort(m.peaks.begin(), m.peaks.end(),
                   [](const MeasuredPeak& a, const MeasuredPeak& b) { return a.type < b.type; });
  if (progress) progress("all-reduce", 0.95);
  auto reduced = measure_all_reduce(gpu.libraries(), settings, m.warnings);
  if (!reduced) {
    m.warnings.push_back("the all-reduce is not measured: " + reduced.error().line());
  } else {
    m.all_reduce = std::move(*reduced);
  }
  return gpu.use();
}

}  // namespace

Result<std::vector<std::string>> cuda_device_names(const CudaLibraries& libraries) {
  const DriverApi& api = libraries.driver;
  const Result<int> count = start_driver(api);
  if (!count) return tl::unexpected(count.error());
  std::vector<std::string> names;
  constexpr int most_gpus = 64;
  for (int i = 0; i < std::min(*count, most_gpus); ++i) {
    DeviceHandle device = 0;
    if (auto done = check(api, api.device_get(&device, i), "cuDeviceGet"); !done) return tl::unexpected(done.error());
    const Result<GpuFacts> facts = read_gpu_facts(api, i, device);
    names.push_back(facts ? facts->name : fmt::format("NVIDIA GPU {}", i));
  }
  return names;
}

Result<Measurement> measure_cuda(int ordinal, const MeasureSettings& settings, const CudaLibraries& libraries,
                                 const Progress& progress) {
  const Result<Assets> assets = Assets::open();
  if (!assets) return tl::unexpected(assets.error());
  const Result<std::unique_ptr<Gpu>> gpu = Gpu::open(libraries, ordinal);
  if (!gpu) return tl::unexpected(gpu.error());
  const std::string date = SystemClock().today();
  Measurement m;
  m.on = fmt::format("cuda:{}", ordinal);
  m.device_name = (*gpu)->facts().name;
  note_conditions(**gpu, date, m);
  const HealthMonitor monitor(libraries, (*gpu)->facts().pci_bus_id);
  if (!monitor.missing().empty()) m.warnings.push_back("clocks and power cap are not known: " + monitor.missing());
  const Health before = monitor.look();
  if (auto done = measure_parts(**gpu, settings, progress, m); !done) return tl::unexpected(done.error());
  report_health(before, monitor.look(), m.conditions, m.warnings);
  note_limits(**gpu, m);
  m.device = gpu_device(*assets, (*gpu)->facts(), m, date);
  if (progress) progress("done", 1);
  return m;
}

}  // namespace corridor::measure
