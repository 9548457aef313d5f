// SPDX-License-Identifier: Apache-2.0
// 1, 2, 4 … 64 independent pointer chases a thread: more in flight, more a second, and no wait gets shorter.
#include <algorithm>
#include <atomic>

#include <fmt/format.h>

#include "corridor/measure/cpu/kernels.h"
#include "corridor/measure/cpu/memory.h"
#include "corridor/measure/lab/experiment.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

constexpr std::size_t in_flight[] = {1, 2, 4, 8, 16, 32, 64};
constexpr std::size_t most_in_flight = 64;
constexpr std::size_t line_bytes = 64;
constexpr std::size_t steps = 8000;
constexpr std::size_t most_bytes = std::size_t{256} * 1024 * 1024;  // as the ladder's latency

std::vector<LabReading> predictions(const LabMachine& machine) {
  // A core has places for some ten to twenty waiting lines: eight fit on every one, 64 on none.
  constexpr std::size_t sure_places = 8;
  constexpr double slowest = 0.7;
  constexpr double slowest_beyond = 0.25;
  constexpr double fastest = 1.3;
  const double wall = machine.bandwidth().value() / line_bytes;
  const double wait = machine.main_memory().latency.value();
  std::vector<LabReading> out;
  for (const std::size_t k : in_flight) {
    const double alone = static_cast<double>(k) * machine.threads / wait;
    out.push_back(reading(fmt::format("{} in flight a thread", k), LabUnit::per_second, std::min(alone, wall),
                          k <= sure_places ? slowest : slowest_beyond, fastest));
    out.back().series = "loads a second";
    out.back().x = static_cast<double>(k);
  }
  out.push_back(reading("8 in flight ÷ 1: the wait is hidden", LabUnit::ratio,
                        std::min(8.0, wall * wait / machine.threads), slowest, fastest));
  LabReading longest;
  longest.what = "wait of one load with 64 in flight";
  longest.predicted = std::max(wait, most_in_flight * machine.threads / wall);
  longest.low = 0.85 * wait;  // the claim: never shorter than alone
  out.push_back(longest);
  return out;
}

}  // namespace

Result<LabResult> run_chase(const LabContext& context) {
  const LabMachine& machine = context.machine;
  LabResult out;
  out.x_label = "loads in flight a thread";
  out.y_label = "loads a second";
  out.formulas.push_back(fmt::format("loads a second = min(in flight × {} threads ÷ {}, {} ÷ 64 B)", machine.threads,
                                     units::print(machine.main_memory().latency), units::print(machine.bandwidth())));
  out.tolerance =
      "0.7 to 1.3 times the prediction up to 8 in flight; beyond, at least a quarter of it: how many lines a core can "
      "wait "
      "for is not in it";
  out.readings = predictions(machine);
  const std::size_t bytes = std::min(machine.beyond_caches(), most_bytes);
  const Memory memory(bytes);
  if (memory.data() == nullptr) return no_memory("chase", static_cast<double>(bytes));
  link_cycle(memory.data(), bytes, line_bytes, 1);
  std::atomic<int> lost{0};
  const auto threads = static_cast<std::size_t>(context.team.size());
  std::vector<const void*> starts(threads * most_in_flight);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    starts[i] = memory.data() + bytes / line_bytes * i / starts.size() * line_bytes;
  }
  std::vector<std::function<void()>> variants;
  for (const std::size_t k : in_flight) {
    variants.emplace_back([&, k] {
      context.team.run([&](int index) {
        const void** mine = starts.data() + static_cast<std::size_t>(index) * most_in_flight;
        chase_many(mine, k, steps);
        if (mine[0] == nullptr) ++lost;
      });
    });
  }
  const auto samples = time_in_turn(context.settings(0.3), context.clock, variants);
  if (!samples) return tl::unexpected(samples.error());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    take_rate(out.readings[i], (*samples)[i], static_cast<double>(in_flight[i] * steps * threads));
  }
  LabReading& hidden = out.readings[std::size(in_flight)];
  LabReading& longest = out.readings.back();
  take_time(hidden, (*samples)[3]);
  hidden.measured = out.readings[3].measured / out.readings[0].measured;
  take_time(longest, samples->back());
  longest.measured = samples->back().median.value() / static_cast<double>(steps);
  if (lost > 0) out.notes.emplace_back("A chase lost its way");
  return out;
}

}  // namespace corridor::measure
