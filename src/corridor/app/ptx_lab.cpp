// SPDX-License-Identifier: Apache-2.0
// The list of experiments on the simulated GPU, and what they share.
#include "corridor/app/ptx_lab.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "corridor/app/ptx_lab_bench.h"
#include "corridor/base/nearest.h"
#include "corridor/hardware/catalogue.h"

namespace corridor::app {
namespace {

constexpr const char* default_lab_device = "h100-sxm";
constexpr double bytes_a_sector = 32;

struct ListedExperiment {
  PtxExperiment head;
  RunPtxExperiment run;
};

constexpr std::array<ListedExperiment, 9> listed{{
    {{"warps", "Threads run in warps of 32 lanes; the last warp of a block may be part empty."}, lab_warps},
    {{"divergence", "Two branches in one warp run one after the other; between warps they cost nothing."},
     lab_divergence},
    {{"coalescing", "Neighbouring lanes that read neighbouring values share sectors of 32 bytes."}, lab_coalescing},
    {{"chase", "A read that waits for the one before pays the whole wait of the level that has the value."}, lab_chase},
    {{"occupancy", "More resident warps hide more of the wait, until something else is full."}, lab_occupancy},
    {{"fusion", "One pass with three operations moves a third of the bytes of three passes."}, lab_fusion},
    {{"tiling", "The same matrix product in tiles asks memory for each value fewer times."}, lab_tiling},
    {{"attention", "Attention in one pass never writes the score matrix and saves its four trips to memory."},
     lab_attention},
    {{"dispatch", "A small kernel costs its start, whatever it does."}, lab_dispatch},
}};

}  // namespace

const std::vector<PtxExperiment>& ptx_experiments() {
  static const std::vector<PtxExperiment> heads = [] {
    std::vector<PtxExperiment> out;
    for (const ListedExperiment& each : listed) out.push_back(each.head);
    return out;
  }();
  return heads;
}

Result<PtxLabAnswer> run_ptx_lab(const Assets& assets, const std::string& name, const std::string& device) {
  const auto found =
      std::find_if(listed.begin(), listed.end(), [&](const auto& each) { return each.head.name == name; });
  if (found == listed.end()) {
    std::string names;
    for (const PtxExperiment& each : ptx_experiments()) names += (names.empty() ? "" : ", ") + std::string(each.name);
    return fail("no experiment of that name runs on the simulated GPU", "lab " + shown_word(name), "they are " + names);
  }
  Result<hardware::ResolvedDevice> resolved =
      hardware::find_device(assets, device.empty() ? default_lab_device : device);
  if (!resolved) return tl::unexpected(resolved.error());
  Result<PtxMachine> machine = ptx_machine(resolved->device);
  if (!machine) return tl::unexpected(machine.error());
  PtxLabBench bench(assets, device.empty() ? default_lab_device : device, std::move(*machine));
  bench.result.name = name;
  bench.result.claim = found->head.sentence;
  if (const Result<int> ran = found->run(bench); !ran) return tl::unexpected(ran.error());
  bench.result.notes.push_back("Run on the simulated " + resolved->device.name +
                               ": counts are exact for the kernel's PTX, times are the timing model's.");
  return PtxLabAnswer{std::move(resolved->device), bench.machine, std::move(bench.result)};
}

Result<PtxAnswer> PtxLabBench::run(const std::string& file, const std::string& kernel, ptx::Dim3 grid, ptx::Dim3 block,
                                   std::vector<std::string> arguments, std::uint64_t shared_bytes) const {
  PtxRequest request;
  request.file = file;
  request.kernel = kernel;
  request.device = device_;
  request.grid = grid;
  request.block = block;
  request.shared_bytes = shared_bytes;
  request.arguments = std::move(arguments);
  Result<PtxAnswer> answer = run_ptx(assets_, request);
  if (answer && !answer->clean()) {
    return fail(answer->run.faults.empty() ? "the run did not end" : answer->run.faults.front().message, kernel);
  }
  return answer;
}

void PtxLabBench::expect(std::string what, double predicted, double measured, double off, measure::LabUnit unit) {
  measure::LabReading reading;
  reading.what = std::move(what);
  reading.unit = unit;
  reading.predicted = predicted;
  reading.low = predicted * (1 - off);
  reading.high = predicted * (1 + off);
  reading.measured = measured;
  result.readings.push_back(std::move(reading));
}

void PtxLabBench::expect_at(std::string series, double x, std::string what, double predicted, double measured,
                            double off, measure::LabUnit unit) {
  expect(std::move(what), predicted, measured, off, unit);
  result.readings.back().series = std::move(series);
  result.readings.back().x = x;
}

double dram_bytes(const PtxAnswer& answer) {
  const ptx::CacheCounters& c = answer.run.counters.cache;
  return bytes_a_sector * static_cast<double>(c.dram_read_sectors + c.dram_write_sectors);
}

double global_sectors(const PtxAnswer& answer) {
  const ptx::Counters& c = answer.run.counters;
  return static_cast<double>(c.global_load.sectors + c.global_store.sectors);
}

}  // namespace corridor::app
