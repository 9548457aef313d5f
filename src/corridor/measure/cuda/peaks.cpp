// SPDX-License-Identifier: Apache-2.0
// Each kernel at several occupancies, the best of them timed long enough for the clock to settle.
#include "corridor/measure/cuda/peaks.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "corridor/measure/cuda/passes.h"

namespace corridor::measure::cuda {
namespace {

using hardware::ComputeType;

constexpr unsigned threads = 256;
constexpr int newest = 999;

/// 8 warps, each with 8 tiles of m × n × k a round.
constexpr double warp_products(double m, double n, double k) {
  return 8.0 * 8.0 * 2.0 * m * n * k;
}
/// 2 warpgroups, each with 8 products of 64 × 256 × k a round.
constexpr double warpgroup_products(double k) {
  return 2.0 * 8.0 * 2.0 * 64.0 * 256.0 * k;
}
constexpr double multiply_adds = 2.0 * 64.0 * threads;

Result<void> start(Gpu& gpu, const PeakKernel& peak, Shape shape, unsigned rounds) {
  const std::string_view name = peak.kernel;
  constexpr DevicePointer nowhere = 0;  // the sum that is waited for does not come
  constexpr std::uint32_t seed = 12345;
  // Each chain goes to addend ÷ (1 − factor), far from overflow and from subnormal numbers.
  if (name == "multiply_add_f32") return gpu.launch(name, shape, rounds, 0.75F, 0.5F, nowhere);
  if (name == "multiply_add_f64") return gpu.launch(name, shape, rounds, 0.75, 0.5, nowhere);
  return gpu.launch(name, shape, rounds, seed, nowhere);
}

double flop_of(const PeakKernel& peak, Shape shape) {
  return peak.flop_per_round * shape.blocks;
}

/// The number of blocks an SM that computes fastest; a block more may hide latency or may not fit.
Result<Shape> best_shape(Gpu& gpu, const PeakKernel& peak, units::Seconds least) {
  Shape best{static_cast<unsigned>(gpu.facts().sm_count), threads};
  double best_rate = 0;
  for (const unsigned blocks : {1U, 2U, 3U, 4U, 8U}) {
    if (blocks * threads > static_cast<unsigned>(gpu.facts().max_threads_per_sm)) break;
    const Shape shape{static_cast<unsigned>(gpu.facts().sm_count) * blocks, threads};
    const auto time = glance(gpu, least, [&](unsigned rounds) { return start(gpu, peak, shape, rounds); });
    if (!time) return tl::unexpected(time.error());
    const double rate = time->value() > 0 ? flop_of(peak, shape) / time->value() : 0;
    if (rate <= best_rate) continue;
    best_rate = rate;
    best = shape;
  }
  return best;
}

Result<MeasuredPeak> measure_one(Gpu& gpu, const PeakKernel& peak, Effort effort, std::vector<std::string>& warnings) {
  const EstimatorSettings settings = peak_settings(effort);
  const Result<Shape> shape = best_shape(gpu, peak, settings.least_pass / 4);
  if (!shape) return tl::unexpected(shape.error());
  const auto samples = time_work(gpu, settings, [&](unsigned rounds) { return start(gpu, peak, *shape, rounds); });
  if (!samples) return tl::unexpected(samples.error());
  constexpr double notable_drift = 0.02;
  if (std::abs(samples->drift) > notable_drift) {
    warnings.push_back(fmt::format("{} by {}: passes became {:.0f} % {} while measuring (clock or power limit)",
                                   hardware::name(peak.type), peak.unit, 100 * std::abs(samples->drift),
                                   samples->drift > 0 ? "longer" : "shorter"));
  }
  const unsigned sms = static_cast<unsigned>(gpu.facts().sm_count);
  return MeasuredPeak{
      peak.type,
      rate_figure(flop_of(peak, *shape), *samples,
                  fmt::format("{}, {} blocks of {} threads an SM", peak.kernel, shape->blocks / sms, threads)),
      peak.unit};
}

bool has(const GpuFacts& facts, const PeakKernel& peak, const Target& target) {
  if (facts.capability() < peak.from || facts.capability() > peak.to) return false;
  // Code of one architecture alone (sm_90a) is not made when the compiler does not know the GPU.
  return std::string_view(peak.unit) != "wgmma" || target.machine_code;
}

}  // namespace

const std::vector<PeakKernel>& peak_kernels() {
  static const std::vector<PeakKernel> kernels{
      {"multiply_add_f64", ComputeType::fp64, "FMA", multiply_adds, 50, newest},
      {"multiply_add_f32", ComputeType::fp32, "FMA", multiply_adds, 50, newest},
      {"mma_tf32", ComputeType::tf32, "mma.sync", warp_products(16, 8, 8), 80, newest},
      {"wgmma_tf32", ComputeType::tf32, "wgmma", warpgroup_products(8), 90, 90},
      {"mma_f16", ComputeType::fp16, "mma.sync", 4 * warp_products(8, 8, 4), 70, 74},
      {"mma_f16", ComputeType::fp16, "mma.sync", warp_products(16, 8, 8), 75, 79},
      {"mma_f16", ComputeType::fp16, "mma.sync", warp_products(16, 8, 16), 80, newest},
      {"wgmma_f16", ComputeType::fp16, "wgmma", warpgroup_products(16), 90, 90},
      {"mma_bf16", ComputeType::bf16, "mma.sync", warp_products(16, 8, 16), 80, newest},
      {"wgmma_bf16", ComputeType::bf16, "wgmma", warpgroup_products(16), 90, 90},
      {"mma_e4m3", ComputeType::fp8, "mma.sync", warp_products(16, 8, 32), 89, newest},
      {"wgmma_e4m3", ComputeType::fp8, "wgmma", warpgroup_products(32), 90, 90},
      {"mma_s8", ComputeType::int8, "mma.sync", warp_products(8, 8, 16), 75, 79},
      {"mma_s8", ComputeType::int8, "mma.sync", warp_products(16, 8, 32), 80, newest},
      {"wgmma_s8", ComputeType::int8, "wgmma", warpgroup_products(32), 90, 90},
  };
  return kernels;
}

Result<std::vector<MeasuredPeak>> measure_peaks(Gpu& gpu, const MeasureSettings& settings, const Progress& progress,
                                                std::vector<std::string>& warnings) {
  std::vector<MeasuredPeak> peaks;
  std::optional<Error> failure;
  const auto& kernels = peak_kernels();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!has(gpu.facts(), kernels[i], gpu.target())) continue;
    if (progress) progress("arithmetic peaks", static_cast<double>(i) / static_cast<double>(kernels.size()));
    Result<MeasuredPeak> peak = measure_one(gpu, kernels[i], settings.effort, warnings);
    if (peak) {
      peaks.push_back(std::move(*peak));
      continue;
    }
    failure = peak.error();
    warnings.push_back(fmt::format("{} is not measured: {}", kernels[i].kernel, peak.error().line()));
  }
  if (peaks.empty() && failure) return tl::unexpected(std::move(*failure));
  return peaks;
}

}  // namespace corridor::measure::cuda
