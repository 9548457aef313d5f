// SPDX-License-Identifier: Apache-2.0
// Passes over a GPU's memory: operations a byte, passes apart and fused, strides, lanes of a warp, resident blocks.
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "corridor/measure/lab/gpu/gpu_lab.h"
#include "corridor/measure/lab/intensity.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

using cuda::Buffer;
using cuda::Shape;
using units::Bytes;

constexpr double sector_bytes = 32;  // what the L2 is asked for at the least
constexpr double burst_bytes = 64;   // what main memory hands out at a time
constexpr std::uint32_t unlikely_sum = 0x9e3779b1U;

/// Memory of an experiment, filled with floats, and a place for sums that never come.
struct Streams {
  Buffer data, sink;
};

Result<Streams> make_streams(const GpuLabContext& context, std::size_t bytes) {
  Result<Buffer> data = context.gpu.allocate(bytes);
  if (!data) return tl::unexpected(data.error());
  Result<Buffer> sink = context.gpu.allocate(4096);
  if (!sink) return tl::unexpected(sink.error());
  if (auto done = fill_words(context, *data, float_words[0], float_words[1]); !done) {
    return tl::unexpected(done.error());
  }
  return Streams{std::move(*data), std::move(*sink)};
}

}  // namespace

Result<LabResult> run_gpu_intensity(const GpuLabContext& context) {
  const LabMachine& machine = context.machine;
  LabResult out = intensity_claim(machine);
  const std::size_t bytes = beyond_l2(machine);
  const Result<Streams> memory = make_streams(context, bytes);
  if (!memory) return tl::unexpected(memory.error());
  const auto vectors = static_cast<std::uint64_t>(bytes / 16);
  for (const std::size_t step : intensity_steps) {
    LabReading r = intensity_reading(machine, step);
    const auto samples = time_on_gpu(context, [&] {
      return context.gpu.launch("lab_intensity", blocks_per_sm(context, 8), memory->data.place(), vectors,
                                static_cast<std::uint32_t>(step), memory->sink.place());
    });
    if (!samples) return tl::unexpected(samples.error());
    take_rate(r, *samples, intensity_operations(step) * static_cast<double>(bytes) / sizeof(float));
    out.points.push_back({r.what, r.x, r.measured});
    out.readings.push_back(std::move(r));
  }
  return out;
}

Result<LabResult> run_gpu_fusion(const GpuLabContext& context) {
  constexpr double ratio_tolerance = 0.2;
  const LabMachine& machine = context.machine;
  const std::size_t bytes = beyond_l2(machine);
  const double fused_s = 2 * static_cast<double>(bytes) / machine.update.value();
  LabResult out;
  out.formulas.push_back(fmt::format("three passes: 3 × 2 × {0} ÷ {1}; one pass: 2 × {0} ÷ {1} (copied, by the ladder)",
                                     units::print(Bytes{static_cast<double>(bytes)}), units::print(machine.update)));
  out.tolerance = "times within 25 %, the ratio within 20 % of 3";
  out.readings = {reading("three passes", LabUnit::seconds, 3 * fused_s, usual_low, usual_high),
                  reading("one pass", LabUnit::seconds, fused_s, usual_low, usual_high),
                  reading("three passes ÷ one pass", LabUnit::ratio, 3, 1 - ratio_tolerance, 1 + ratio_tolerance)};
  const Result<Streams> memory = make_streams(context, bytes);
  if (!memory) return tl::unexpected(memory.error());
  const auto vectors = static_cast<std::uint64_t>(bytes / 16);
  const auto pass = [&](const char* kernel) {
    return context.gpu.launch(kernel, blocks_per_sm(context, 8), memory->data.place(), vectors, 0.999F, 0.001F, 0.25F);
  };
  const auto apart = time_on_gpu(context, [&]() -> Result<void> {
    for (const char* kernel : {"lab_scale", "lab_shift", "lab_clamp"}) {
      if (auto done = pass(kernel); !done) return done;
    }
    return {};
  });
  if (!apart) return tl::unexpected(apart.error());
  const auto fused = time_on_gpu(context, [&] { return pass("lab_fused"); });
  if (!fused) return tl::unexpected(fused.error());
  take_time(out.readings[0], *apart);
  take_time(out.readings[1], *fused);
  take_time(out.readings[2], *apart);
  out.readings[2].measured = apart->median / fused->median;
  return out;
}

Result<LabResult> run_gpu_order(const GpuLabContext& context) {
  constexpr std::uint32_t strides[] = {1, 2, 4, 8, 16};
  const LabMachine& machine = context.machine;
  const double rate = machine.bandwidth().value();
  LabResult out;
  out.x_label = "stride in 4-byte values";
  out.y_label = "seconds a value used";
  out.formulas.push_back(
      fmt::format("time a value used = min(4 B × stride, 32 B) ÷ {}", units::print(machine.bandwidth())));
  out.tolerance =
      "within 25 %; from every 16th value on up to a whole 64 bytes a value, which main memory may hand out at a time";
  const std::size_t bytes = std::bit_floor(beyond_l2(machine));
  const Result<Streams> memory = make_streams(context, bytes);
  if (!memory) return tl::unexpected(memory.error());
  const auto add = [&](LabReading r, double values, const std::function<Result<void>()>& work) -> Result<void> {
    const auto samples = time_on_gpu(context, work);
    if (!samples) return tl::unexpected(samples.error());
    take_time(r, *samples);
    r.measured /= values;
    out.readings.push_back(std::move(r));
    return {};
  };
  for (const std::uint32_t stride : strides) {
    const auto count = static_cast<std::uint64_t>(bytes / 4 / stride);
    const double fetched = std::min(4.0 * stride, sector_bytes);
    LabReading r =
        reading(stride == 1 ? "adjacent" : fmt::format("every {}{} value", stride, stride == 2 ? "nd" : "th"),
                LabUnit::seconds, fetched / rate, usual_low, usual_high);
    r.high = usual_high * std::max(fetched, std::min(4.0 * stride, burst_bytes)) / rate;
    r.series = "time a value used";
    r.x = stride;
    const auto done = add(std::move(r), static_cast<double>(count), [&] {
      return context.gpu.launch("lab_strided", blocks_per_sm(context, 8), memory->data.place(), count, stride,
                                memory->sink.place(), unlikely_sum);
    });
    if (!done) return tl::unexpected(done.error());
  }
  const auto sectors = static_cast<std::uint64_t>(bytes / static_cast<std::size_t>(sector_bytes));
  LabReading scattered = reading("one value of each 32 bytes, scattered", LabUnit::seconds, sector_bytes / rate,
                                 usual_low, usual_high * burst_bytes / sector_bytes);
  const auto done = add(std::move(scattered), static_cast<double>(sectors), [&] {
    return context.gpu.launch("lab_scattered", blocks_per_sm(context, 8), memory->data.place(), sectors,
                              memory->sink.place(), unlikely_sum);
  });
  if (!done) return tl::unexpected(done.error());
  LabReading ratio = reading("every 8th ÷ adjacent", LabUnit::ratio, 8, usual_low, usual_high);
  ratio.measured = out.readings[3].measured / out.readings[0].measured;
  ratio.spread = out.readings[3].spread;
  ratio.passes = out.readings[3].passes;
  out.readings.push_back(std::move(ratio));
  return out;
}

Result<LabResult> run_gpu_coalescing(const GpuLabContext& context) {
  enum Mode : std::uint32_t { in_order, shuffled, anywhere };
  struct Case {
    std::string what;
    std::uint32_t stride;
    Mode mode;
  };
  const std::vector<Case> cases = {{"stride 1", 1, in_order},   {"stride 2", 2, in_order},
                                   {"stride 4", 4, in_order},   {"stride 8", 8, in_order},
                                   {"stride 16", 16, in_order}, {"stride 32", 32, in_order},
                                   {"scattered", 8, anywhere},  {"stride 1, lanes in another order", 1, shuffled}};
  constexpr double lanes = 32, slowest = 1.5;
  constexpr std::uint32_t rounds = 256;
  const LabMachine& machine = context.machine;
  const LabLevel* l2 = machine.find("L2");
  const LabLevel& level = l2 == nullptr ? machine.main_memory() : *l2;
  LabResult out;
  out.x_label = "stride of the lanes in 4-byte values";
  out.y_label = "bytes a second that are used";
  out.formulas.push_back(fmt::format("bytes used a second = 128 B ÷ (sectors of a warp × 32 B) × {} ({})",
                                     units::print(level.bandwidth), level.name));
  out.tolerance =
      "75 to 125 % of the prediction; from stride 8 on at least two thirds of it, because the lines of one load are "
      "looked up one after the other; lanes in another order within 10 % of lanes in order";
  // A quarter of the L2 stays there whichever part of it an SM is near to.
  const std::size_t bytes = std::bit_floor(
      l2 == nullptr ? beyond_l2(machine) : static_cast<std::size_t>(std::max(65536.0, machine.gpu->l2.value() / 4)));
  const Result<Streams> memory = make_streams(context, bytes);
  if (!memory) return tl::unexpected(memory.error());
  const Shape shape = blocks_per_sm(context, 8);
  const std::uint64_t mask = bytes / 4 - 1;
  const double loads = static_cast<double>(shape.blocks) * shape.threads / lanes * rounds;
  for (const Case& c : cases) {
    const double sectors = c.mode == anywhere ? lanes : std::min(lanes, 4.0 * c.stride);
    LabReading r =
        reading(c.what, LabUnit::bytes_per_second, 4 * lanes / (sectors * sector_bytes) * level.bandwidth.value(),
                sectors < lanes ? usual_low : 1 / slowest, usual_high);
    if (c.mode == in_order) r.series = "bytes used a second";
    r.x = c.stride;
    const auto samples = time_on_gpu(context, [&] {
      return context.gpu.launch("lab_lanes", shape, memory->data.place(), mask, rounds, c.stride,
                                static_cast<std::uint32_t>(c.mode), memory->sink.place(), unlikely_sum);
    });
    if (!samples) return tl::unexpected(samples.error());
    take_rate(r, *samples, loads * 4 * lanes);
    out.readings.push_back(std::move(r));
  }
  constexpr double same_within = 0.1;
  LabReading same = reading("lanes in another order ÷ in order", LabUnit::ratio, 1, 1 - same_within, 1 + same_within);
  same.measured = out.readings.back().measured / out.readings.front().measured;
  out.readings.push_back(std::move(same));
  return out;
}

Result<LabResult> run_gpu_occupancy(const GpuLabContext& context) {
  constexpr unsigned resident[] = {1, 2, 4, 8, 16};
  constexpr unsigned threads_a_block = 128;
  constexpr double load_bytes = 16, low_share = 0.6;
  constexpr double reserved = 1024;  // of shared memory, for each block
  const LabMachine& machine = context.machine;
  const LabGpu& gpu = *machine.gpu;
  const double latency = machine.main_memory().latency.value();
  LabResult out;
  out.x_label = "resident blocks of 128 threads an SM";
  out.y_label = "bytes a second";
  out.formulas.push_back(fmt::format("bytes a second = min(blocks × 128 × 16 B × {} SMs ÷ {}, {})", gpu.sm_count,
                                     units::print(machine.main_memory().latency), units::print(machine.bandwidth())));
  out.tolerance = "60 to 125 % of the prediction: a wait is longer the more of the bandwidth is in use";
  const std::size_t bytes = beyond_l2(machine);
  const Result<Streams> memory = make_streams(context, bytes);
  if (!memory) return tl::unexpected(memory.error());
  const auto vectors = static_cast<std::uint64_t>(bytes / 16);
  const auto most = static_cast<unsigned>(std::min(gpu.max_blocks_per_sm, gpu.max_threads_per_sm / 128));
  for (const unsigned blocks : resident) {
    if (blocks > most) break;
    const double in_flight = blocks * threads_a_block * load_bytes * gpu.sm_count;
    LabReading r = reading(fmt::format("{} block{} an SM", blocks, blocks > 1 ? "s" : ""), LabUnit::bytes_per_second,
                           std::min(in_flight / latency, machine.bandwidth().value()), low_share, usual_high);
    r.series = "bytes a second";
    r.x = blocks;
    // So much shared memory that one block more does not fit.
    const double share = std::floor(gpu.shared_per_sm.value() / blocks / reserved) * reserved - reserved;
    const auto shared = static_cast<unsigned>(std::clamp(share, 0.0, gpu.shared_per_block.value()));
    const Shape shape{static_cast<unsigned>(gpu.sm_count) * most, threads_a_block, shared};
    const auto samples = time_on_gpu(context, [&] {
      return context.gpu.launch("lab_resident", shape, memory->data.place(), vectors, memory->sink.place());
    });
    if (!samples) return tl::unexpected(samples.error());
    take_rate(r, *samples, static_cast<double>(bytes));
    out.readings.push_back(std::move(r));
  }
  constexpr double twice_low = 1.5;
  LabReading more;
  more.what = "2 blocks ÷ 1 block";
  more.unit = LabUnit::ratio;
  more.predicted = out.readings.size() > 1 ? *out.readings[1].predicted / *out.readings[0].predicted : 1;
  more.low = std::min(twice_low, usual_low * *more.predicted);
  more.measured = out.readings.size() > 1 ? out.readings[1].measured / out.readings[0].measured : 0;
  out.readings.push_back(std::move(more));
  return out;
}

}  // namespace corridor::measure
