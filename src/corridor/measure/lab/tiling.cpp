// SPDX-License-Identifier: Apache-2.0
// One matrix product row by row, where B is read again for each row of A, and in blocks that use a tile for all rows.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "corridor/measure/cpu/memory.h"
#include "corridor/measure/lab/experiment.h"
#include "corridor/measure/lab/lab_kernels.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

constexpr std::size_t rows_a_thread = 192;

/// Side of B: four times the largest cache that belongs to one core, at least 2 MiB, so that B does not stay near.
std::size_t side_of_b(const LabMachine& machine) {
  double bytes = 2.0 * 1024 * 1024;
  for (const LabLevel& level : machine.ladder) {
    const bool own = level.one_instance < level.capacity || level.name == "L1" || level.name == "L2";
    if (own && &level != &machine.main_memory()) bytes = std::max(bytes, 4 * level.one_instance.value());
  }
  return static_cast<std::size_t>(std::sqrt(bytes / sizeof(float))) / 64 * 64;
}

/// The level B is read from each time: the nearest one that holds it twice over.
const LabLevel& level_of_b(const LabMachine& machine, double bytes) {
  for (const LabLevel& level : machine.ladder) {
    if (level.one_instance == level.capacity && level.capacity.value() >= 2 * bytes) return level;
  }
  return machine.main_memory();
}

}  // namespace

Result<LabResult> run_tiling(const LabContext& context) {
  const LabMachine& machine = context.machine;
  const std::size_t n = side_of_b(machine);
  const auto threads = static_cast<std::size_t>(context.team.size());
  const std::size_t m = rows_a_thread * threads;
  const double b_bytes = static_cast<double>(n * n * sizeof(float));
  const LabLevel& level = level_of_b(machine, b_bytes);
  const double flop = 2 * static_cast<double>(m) * static_cast<double>(n * n);
  const double row_bytes = b_bytes * static_cast<double>(m);
  const double block_bytes_moved = b_bytes * static_cast<double>(threads);

  LabResult out;
  out.formulas.push_back(fmt::format("C[{0}][{1}] = A[{0}][{1}] · B[{1}][{1}], f32: {2}; B is {3} and stands in {4}", m,
                                     n, units::print(units::Flops{flop}), units::print(units::Bytes{b_bytes}),
                                     level.name));
  out.formulas.push_back(fmt::format("row by row: {} × {} ÷ {} ({})", m, units::print(units::Bytes{b_bytes}),
                                     units::print(level.bandwidth), level.name));
  out.formulas.push_back(fmt::format("in blocks: {} read from {}, so {} ÷ {} decides",
                                     units::print(units::Bytes{block_bytes_moved}), level.name,
                                     units::print(units::Flops{flop}), units::print(machine.fp32)));
  out.tolerance =
      "row by row 0.5 to 1.7 times; in blocks 0.9 to 2.5 times its arithmetic; faster by at least a third "
      "of the predicted ratio";
  const double rows_s = std::max(row_bytes / level.bandwidth.value(), flop / machine.fp32.value());
  const double blocks_s = std::max(block_bytes_moved / level.bandwidth.value(), flop / machine.fp32.value());
  constexpr double ratio_share = 1.0 / 3;
  constexpr double ratio_over = 1.8;
  out.readings = {reading("row by row", LabUnit::seconds, rows_s, 0.5, 1.7),
                  reading("in blocks", LabUnit::seconds, blocks_s, 0.9, 2.5),
                  reading("row by row ÷ in blocks", LabUnit::ratio, rows_s / blocks_s, ratio_share, ratio_over)};

  const std::size_t scratch = block_scratch_floats * threads;
  const std::size_t values = n * n + 3 * m * n + scratch;
  const Memory memory(values * sizeof(float));
  if (memory.data() == nullptr) return no_memory("tiling", static_cast<double>(values * sizeof(float)));
  auto* b = reinterpret_cast<float*>(memory.data());
  float* a = b + n * n;
  float* by_rows = a + m * n;
  float* by_blocks = by_rows + m * n;
  float* pads = by_blocks + m * n;
  fill_values(context.team, b, n * n + m * n, 1, -1, 1);
  const auto run = [&](const auto& work) {
    context.team.run([&](int index) {
      const Part part = part_of(m, 1, index, context.team.size());
      work(part, pads + static_cast<std::size_t>(index) * block_scratch_floats);
    });
  };
  const LabKernels& k = lab_kernels();
  const auto samples = time_in_turn(
      context.settings(0.8, 3), context.clock,
      {[&] {
         run([&](const Part& p, float*) {
           k.row_product(a + p.begin * n, n, b, n, by_rows + p.begin * n, n, p.size(), n, n);
         });
       },
       [&] {
         run([&](const Part& p, float* pad) {
           k.block_product(a + p.begin * n, n, b, n, by_blocks + p.begin * n, n, p.size(), n, n, false, pad);
         });
       }});
  if (!samples) return tl::unexpected(samples.error());
  double worst = 0;
  for (std::size_t i = 0; i < m * n; ++i) worst = std::max(worst, std::abs(double{by_rows[i]} - by_blocks[i]));
  take_time(out.readings[0], (*samples)[0]);
  take_time(out.readings[1], (*samples)[1]);
  take_time(out.readings[2], (*samples)[0]);
  out.readings[2].measured = (*samples)[0].median / (*samples)[1].median;
  LabReading same;
  same.what = "largest difference of the two results";
  same.unit = LabUnit::ratio;
  same.measured = worst;
  same.high = 1e-2;  // sums of some thousand products of numbers up to one, in two orders
  out.readings.push_back(same);
  return out;
}

}  // namespace corridor::measure
