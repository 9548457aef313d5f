// SPDX-License-Identifier: Apache-2.0
// The GPU as a LabMachine, and what its experiments share.
#include "corridor/measure/lab/gpu/gpu_lab.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "corridor/measure/cuda/chase.h"
#include "corridor/measure/cuda/measure_cuda.h"
#include "corridor/measure/cuda/passes.h"

namespace corridor::measure {
namespace {

using hardware::ComputeType;
using units::Bytes;
using units::Seconds;

constexpr double mib = 1024.0 * 1024.0;

/// Main memory as the experiments predict from it; the catalogue fills what was not measured.
Result<LabLevel> lab_main_memory(const Measurement& m, std::vector<std::string>& notes) {
  LabLevel level;
  level.name = "main memory";
  if (const auto& device = m.device; device.reachable_bandwidth) {
    level.bandwidth = device.reachable_bandwidth->value;
  } else if (device.memory_bandwidth) {
    level.bandwidth = device.memory_bandwidth->value;
  }
  if (m.main_memory.read) {
    level.bandwidth = units::BytesPerSecond{m.main_memory.read->value};
  } else if (level.bandwidth.value() > 0) {
    notes.emplace_back("The bandwidth of main memory is the catalogue's: it was not measured");
  }
  if (!(level.bandwidth.value() > 0)) return fail("neither a measurement nor the catalogue tells its bandwidth", m.on);
  return level;
}

void take_levels(const Measurement& m, LabMachine& machine) {
  for (const MeasuredLevel& found : m.ladder) {
    if (found.level == "main memory") {
      LabLevel& memory = machine.ladder.back();
      memory.capacity = memory.one_instance = found.capacity;
      if (found.latency) memory.latency = Seconds{found.latency->value};
      continue;
    }
    if (!found.bandwidth || !found.latency) continue;
    LabLevel level{found.level, found.capacity / std::max(1.0, found.instances), found.capacity,
                   units::BytesPerSecond{found.bandwidth->value}, Seconds{found.latency->value}};
    machine.ladder.insert(machine.ladder.end() - 1, std::move(level));
  }
}

Result<void> take_arithmetic(const Measurement& m, LabMachine& machine) {
  for (const MeasuredPeak& peak : m.peaks) {
    if (peak.type == ComputeType::fp32 && peak.unit_name == "FMA") {
      machine.fp32 = units::FlopsPerSecond{peak.flop_per_s.value};
    }
  }
  if (!(machine.fp32.value() > 0) && m.device.peak(ComputeType::fp32)) {
    machine.fp32 = m.device.peak(ComputeType::fp32)->value;
    machine.notes.emplace_back("The fp32 peak is the catalogue's: it was not measured");
  }
  if (!(machine.fp32.value() > 0)) return fail("neither a measurement nor the catalogue tells its fp32 peak", m.on);
  return {};
}

/// The SM's clock while one thread chases through shared memory.
Result<units::Hertz> chased_clock(cuda::Gpu& gpu) {
  const Result<cuda::Buffer> small = gpu.allocate(4096);
  if (!small) return tl::unexpected(small.error());
  const Result<cuda::ChaseTime> time = cuda::Chase(gpu, *small, *small).shared();
  if (!time) return tl::unexpected(time.error());
  return units::Hertz{time->cycles / time->load.value()};
}

}  // namespace

Result<LabMachine> gpu_lab_machine(const cuda::GpuFacts& facts, const Measurement& measured, Bytes most_memory) {
  LabMachine machine;
  machine.device = measured.device;
  machine.device.name = facts.name;
  machine.threads = facts.sm_count * facts.max_threads_per_sm;
  machine.most_memory = most_memory;
  machine.clock = facts.clock;
  Result<LabLevel> memory = lab_main_memory(measured, machine.notes);
  if (!memory) return tl::unexpected(memory.error());
  machine.update =
      measured.main_memory.copy ? units::BytesPerSecond{measured.main_memory.copy->value} : memory->bandwidth;
  machine.ladder.push_back(std::move(*memory));
  take_levels(measured, machine);
  if (auto done = take_arithmetic(measured, machine); !done) return tl::unexpected(done.error());
  if (measured.launch) machine.dispatch = Seconds{measured.launch->value};
  LabGpu gpu{facts.ordinal,           facts.sm_count,    facts.max_threads_per_sm,
             facts.max_blocks_per_sm, facts.l2,          facts.shared_per_sm,
             facts.shared_per_block,  facts.memory_free, Seconds{}};
  if (measured.launch_graph) gpu.graph_node = Seconds{measured.launch_graph->value};
  machine.gpu = gpu;
  for (const std::string& warning : measured.warnings) machine.notes.push_back(warning);
  return machine;
}

Result<std::unique_ptr<GpuLabBench>> GpuLabBench::open(const cuda::CudaLibraries& libraries, int ordinal,
                                                       Bytes most_memory, const Progress& progress) {
  MeasureSettings settings;
  settings.effort = Effort::quick;
  settings.memory = most_memory;
  const Result<Measurement> measured = measure_cuda(ordinal, settings, libraries, progress);
  if (!measured) return tl::unexpected(measured.error());
  std::unique_ptr<GpuLabBench> bench(new GpuLabBench);
  Result<std::unique_ptr<cuda::Gpu>> gpu = cuda::Gpu::open(libraries, ordinal);
  if (!gpu) return tl::unexpected(gpu.error());
  bench->gpu_ = std::move(*gpu);
  Result<LabMachine> machine = gpu_lab_machine(bench->gpu_->facts(), *measured, most_memory);
  if (!machine) return tl::unexpected(machine.error());
  bench->machine_ = std::move(*machine);
  const Result<units::Hertz> clock = chased_clock(*bench->gpu_);
  if (!clock) return tl::unexpected(clock.error());
  bench->machine_.clock = *clock;
  return bench;
}

Result<LabResult> GpuLabBench::run(const Experiment& experiment, Effort effort) {
  if (experiment.run_gpu == nullptr) {
    return fail("this experiment runs on the processor alone", fmt::format("lab {} --on cuda", experiment.name),
                "leave --on out");
  }
  Result<LabResult> result = experiment.run_gpu({machine_, *gpu_, effort});
  if (!result) return result;
  result->name = experiment.name;
  result->claim = experiment.sentence;
  return result;
}

std::size_t beyond_l2(const LabMachine& machine) {
  constexpr double unit = 2 * mib;
  const LabGpu gpu = machine.gpu.value_or(LabGpu{});
  double bytes = std::clamp(8 * gpu.l2.value(), 512 * mib, 2048 * mib);
  if (gpu.memory_free.value() > 0) bytes = std::min(bytes, gpu.memory_free.value() / 4);
  if (machine.most_memory.value() > 0) bytes = std::min(bytes, machine.most_memory.value());
  return static_cast<std::size_t>(std::max(bytes, 4 * unit) / unit) * static_cast<std::size_t>(unit);
}

Result<Samples> time_on_gpu(const GpuLabContext& context, const std::function<Result<void>()>& work) {
  // The first run compiles and loads the kernel: its time would be taken for the kernel's.
  if (auto done = work(); !done) return tl::unexpected(done.error());
  if (auto done = context.gpu.synchronize(); !done) return tl::unexpected(done.error());
  return cuda::time_work(context.gpu, cuda::pass_settings(context.effort), [&](unsigned repeats) -> Result<void> {
    for (unsigned i = 0; i < repeats; ++i) {
      if (auto done = work(); !done) return done;
    }
    return {};
  });
}

cuda::Shape blocks_per_sm(const GpuLabContext& context, unsigned blocks) {
  return {static_cast<unsigned>(context.gpu.facts().sm_count) * blocks, 256};
}

Result<void> fill_words(const GpuLabContext& context, const cuda::Buffer& buffer, std::uint32_t mask,
                        std::uint32_t exponent) {
  constexpr std::uint32_t seed = 12345;
  const auto words = static_cast<std::uint64_t>(buffer.bytes() / 4);
  return context.gpu.launch("fill", blocks_per_sm(context, 8), buffer.place(), words, seed, mask, exponent);
}

}  // namespace corridor::measure
