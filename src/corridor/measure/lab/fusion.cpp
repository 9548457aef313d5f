// SPDX-License-Identifier: Apache-2.0
// Three element-wise passes over an array against one pass that does all three.
#include <fmt/format.h>

#include "corridor/measure/cpu/memory.h"
#include "corridor/measure/lab/experiment.h"
#include "corridor/measure/lab/lab_kernels.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

constexpr float factor = 0.999F;
constexpr float addend = 0.001F;
constexpr float least = 0.25F;
constexpr double passes_apart = 3;
constexpr double trips_a_pass = 2;  // read and write back

}  // namespace

Result<LabResult> run_fusion(const LabContext& context) {
  const LabMachine& machine = context.machine;
  const std::size_t bytes = machine.beyond_caches();
  const double once = static_cast<double>(bytes) * trips_a_pass;
  LabResult out;
  const double fused_s = once / machine.update.value();
  out.formulas.push_back(fmt::format("three passes: 3 × 2 × {0} ÷ {1}; one pass: 2 × {0} ÷ {1}",
                                     units::print(units::Bytes{static_cast<double>(bytes)}),
                                     units::print(machine.update)));
  out.tolerance = "times within 25 %, the ratio within 20 % of 3";
  constexpr double fastest = 0.75;
  constexpr double slowest = 1.25;
  constexpr double ratio_tolerance = 0.2;
  out.readings = {
      reading("three passes", LabUnit::seconds, passes_apart * fused_s, fastest, slowest),
      reading("one pass", LabUnit::seconds, fused_s, fastest, slowest),
      reading("three passes ÷ one pass", LabUnit::ratio, passes_apart, 1 - ratio_tolerance, 1 + ratio_tolerance)};

  const Memory memory(bytes);
  if (memory.data() == nullptr) return no_memory("fusion", static_cast<double>(bytes));
  auto* data = reinterpret_cast<float*>(memory.data());
  const std::size_t count = bytes / sizeof(float);
  fill_values(context.team, data, count, lab_grain, 0, 1);
  const LabKernels& k = lab_kernels();
  const auto on_all = [&](const auto& work) {
    context.team.run([&](int index) {
      const Part part = part_of(count, lab_grain, index, context.team.size());
      work(data + part.begin, part.size());
    });
  };
  const auto samples =
      time_in_turn(context.settings(1), context.clock,
                   {[&] {
                      on_all([&](float* d, std::size_t n) { k.scale(d, n, factor); });
                      on_all([&](float* d, std::size_t n) { k.shift(d, n, addend); });
                      on_all([&](float* d, std::size_t n) { k.clamp(d, n, least); });
                    },
                    [&] { on_all([&](float* d, std::size_t n) { k.fused(d, n, factor, addend, least); }); }});
  if (!samples) return tl::unexpected(samples.error());
  take_time(out.readings[0], (*samples)[0]);
  take_time(out.readings[1], (*samples)[1]);
  take_time(out.readings[2], (*samples)[0]);
  out.readings[2].measured = (*samples)[0].median / (*samples)[1].median;
  return out;
}

}  // namespace corridor::measure
