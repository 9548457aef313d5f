// SPDX-License-Identifier: Apache-2.0
// Chapters of the tour about the machine: cheap arithmetic, lanes and warps, waiting and width, the ladder.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "corridor/app/block.h"
#include "corridor/app/devices.h"
#include "corridor/app/tour_claims.h"
#include "corridor/units/text.h"

namespace corridor::app {
namespace {

using hardware::ComputeType;
using hardware::Device;
using measure::LabReading;
using measure::LabResult;
using units::Bytes;

constexpr double value_bytes = 4;
constexpr double line_bytes = 64;

Result<double> fact(const Device& device, const hardware::MaybeFact<double>& number, const char* what) {
  if (!number) return fail(fmt::format("the catalogue does not tell its {}", what), device.id);
  return number->value;
}

void tell_asymmetry(TourBuilder& tour) {
  const Device& d = tour.h100;
  const units::FlopsPerSecond peak = d.peak(ComputeType::bf16)->value;
  const units::BytesPerSecond rate = d.memory_bandwidth->value;
  const units::Seconds fetch = Bytes{value_bytes} / rate;
  TourClaim& c =
      tour.add("asymmetry", "While one value comes from memory, a chip does hundreds of operations.",
               fmt::format("H100: 4 B ÷ {} = {}; × {} = {} FLOP (bf16)", units::print(rate), units::print(fetch),
                           units::print(peak), units::print_count((peak * fetch).value())));
  c.only_if = "the value comes from main memory: one in a register costs nothing more";
  const LabResult* run = tour.experiment("intensity");
  c.how = "corridor lab intensity";
  if (run == nullptr || tour.machine == nullptr) {
    c.verdict = TourVerdict::not_measured;
    return;
  }
  const LabReading& one = run->readings.front();
  const LabReading& most = run->readings.back();
  c.here = fmt::format("4 B ÷ {} × {}", units::print(tour.machine->bandwidth()), units::print(tour.machine->fp32));
  c.spread = std::max(one.spread, most.spread);
  // With one operation a value the rate of operations is the rate of values.
  tour.take(c, "intensity", count_figure(tour.machine->ridge() * value_bytes, "FLOP"),
            count_figure(most.measured / one.measured, "FLOP"), one.holds() && most.holds());
}

Result<int> tell_trend(TourBuilder& tour) {
  const Result<DeviceTrend> trend = device_trend(tour.assets);
  if (!trend) return tl::unexpected(trend.error());
  const TrendLine& line = trend->lines.front();
  std::string ridges;
  for (const TrendPoint& p : line.points) {
    const auto& ridge = p.ridges[static_cast<std::size_t>(ComputeType::bf16)];
    if (ridge) ridges += (ridges.empty() ? "" : " → ") + fmt::format("{} {:.0f}", p.id, ridge->value());
  }
  std::string fell;
  bool grew = true;
  double first = 0;
  double last = 0;
  for (const TrendStep& s : trend->steps) {
    if (s.line != line.name || s.type != ComputeType::bf16) continue;
    if (first <= 0) first = s.ridge_from;
    last = s.ridge_to;
    if (s.ridge_fell()) {
      fell += (fell.empty() ? "" : ", ") +
              fmt::format("{} → {} fell from {:.0f} to {:.0f}", s.from, s.to, s.ridge_from, s.ridge_to);
    }
  }
  grew = last > first;
  TourClaim& c = tour.add("trend", "From generation to generation arithmetic grew faster than bandwidth.",
                          "FLOP a byte, 16 bit, dense: " + ridges);
  if (!fell.empty()) c.only_if = "you look at the whole line: " + fell;
  if (!grew) c.verdict = TourVerdict::does_not_hold;
  return 0;
}

Result<int> tell_lanes(TourBuilder& tour) {
  const Device& d = tour.h100;
  const auto sms = fact(d, d.sm.count, "multiprocessors");
  const auto lanes = fact(d, d.sm.lanes_fp32_per_clock, "lanes");
  const auto schedulers = fact(d, d.sm.schedulers, "schedulers");
  for (const auto* each : {&sms, &lanes, &schedulers}) {
    if (!*each) return tl::unexpected(each->error());
  }
  TourClaim& c =
      tour.add("lanes", "A GPU is thousands of simple lanes, a processor a few wide cores.",
               fmt::format("H100: {} SMs × {} lanes = {} multiply-adds a cycle", *sms, *lanes, *sms * *lanes));
  c.only_if =
      fmt::format("a lane is not taken for a core: {} schedulers feed {} lanes", *sms * *schedulers, *sms * *lanes);
  if (tour.machine == nullptr) return 0;
  const double here = tour.machine->fp32.value() / 2 / tour.machine->clock.value();
  c.here = fmt::format("{} ÷ 2 ÷ {} = {:.0f} multiply-adds a cycle on {} threads", units::print(tour.machine->fp32),
                       units::print(tour.machine->clock), here, tour.machine->threads);
  return 0;
}

Result<int> tell_warps(TourBuilder& tour) {
  BlockRequest request;
  request.threads = 250;
  const Result<BlockResult> block = place_block(request, tour.h100);
  if (!block) return tl::unexpected(block.error());
  TourClaim& last = tour.add("warps", "Threads run in warps; the last warp of a block may be part empty.",
                             fmt::format("{} threads ÷ {} = {} warps, the last with {} live lanes", block->threads,
                                         block->warp_size, block->warps, block->last_warp_lanes));
  take_simulated(tour, last, "warps", "250 threads: warps", "warps");
  TourClaim& branch =
      tour.add("divergence", "Two branches in one warp run one after the other; between warps they do not.",
               "4 branches inside a warp: 4 times the instructions; between warps: 1 time");
  take_simulated(tour, branch, "divergence", "4 branches inside each warp: instructions issued ÷ one branch", "");
  const auto schedulers = fact(tour.h100, tour.h100.sm.schedulers, "schedulers");
  if (!schedulers) return tl::unexpected(schedulers.error());
  TourClaim& c = tour.add("schedulers", "A multiprocessor picks a ready warp each cycle among many that are resident.",
                          fmt::format("H100: {} of {} warps resident, {} warps issued a cycle", block->warps_per_sm,
                                      block->max_warps_per_sm, *schedulers));
  c.only_if = fmt::format("'one warp at a time' is said of one scheduler: an SM has {}", *schedulers);
  return 0;
}

void tell_in_flight(TourBuilder& tour) {
  const hardware::MemoryLevel& memory = tour.h100.ladder.back();
  std::string formula = "in flight = latency × bandwidth";
  if (memory.latency) {
    const Bytes bytes = tour.h100.memory_bandwidth->value * memory.latency->value;
    formula = fmt::format("H100: {} × {} = {} in flight", units::print(memory.latency->value),
                          units::print(tour.h100.memory_bandwidth->value), units::print(bytes));
  }
  TourClaim& c =
      tour.add("in-flight", "To use the whole bandwidth, latency × bandwidth bytes must be under way.", formula);
  if (tour.machine == nullptr) return;
  const auto& here = tour.machine->main_memory();
  c.here = fmt::format("{} × {} = {}", units::print(here.latency), units::print(here.bandwidth),
                       units::print(here.bandwidth * here.latency));
}

void tell_ladder(TourBuilder& tour) {
  std::string levels;
  for (const hardware::MemoryLevel& level : tour.h100.ladder) {
    if (!level.bandwidth) continue;
    levels += (levels.empty() ? "H100: " : ", ") + level.name + " " + units::print(level.bandwidth->value);
  }
  TourClaim& c = tour.add("ladder", "Memory is a ladder: each rung holds more, is slower and answers later.", levels);
  c.how = "measured before the experiments";
  if (tour.machine == nullptr) {
    c.verdict = TourVerdict::not_measured;
    return;
  }
  bool falls = true;
  const measure::LabLevel* above = nullptr;
  for (const measure::LabLevel& level : tour.machine->ladder) {
    c.here += (c.here.empty() ? "" : ", ") +
              fmt::format("{} {} {}", level.name, units::print(level.bandwidth), units::print(level.latency));
    if (above != nullptr) falls = falls && level.bandwidth <= above->bandwidth && level.latency >= above->latency;
    above = &level;
  }
  const double rungs = tour.machine->ladder.front().bandwidth / tour.machine->bandwidth();
  c.measured = {rungs, "ratio", "nearest rung ÷ main memory " + units::print_number(rungs)};
  c.verdict = falls ? TourVerdict::holds : TourVerdict::does_not_hold;
}

void tell_two_costs(TourBuilder& tour) {
  const hardware::MemoryLevel& memory = tour.h100.ladder.back();
  TourClaim& c =
      tour.add("two-costs", "A fetch costs a wait once and a time for each byte: alone, a line pays the wait.",
               memory.latency ? fmt::format("H100: {} + bytes ÷ {}", units::print(memory.latency->value),
                                            units::print(tour.h100.memory_bandwidth->value))
                              : "time = latency + bytes ÷ bandwidth");
  const LabResult* chase = tour.experiment("chase");
  const LabResult* order = tour.experiment("order");
  c.how = "corridor lab chase, corridor lab order";
  if (chase == nullptr || order == nullptr || tour.machine == nullptr) {
    c.verdict = TourVerdict::not_measured;
    return;
  }
  const double threads = tour.machine->threads;
  const double wait = tour.machine->main_memory().latency.value();
  const double line = line_bytes * threads / tour.machine->bandwidth().value();
  const double alone = threads / chase->readings.front().measured;
  const double streamed = order->readings.front().measured * line_bytes / value_bytes * threads;
  c.here = fmt::format("a line alone {} ÷ a line in a stream {}", units::print(units::Seconds{wait}),
                       units::print(units::Seconds{line}));
  const double predicted = wait / line;
  const double measured = alone / streamed;
  c.spread = chase->readings.front().spread;
  constexpr double within = 2;
  tour.take(c, "chase", ratio_figure(predicted), ratio_figure(measured),
            measured > predicted / within && measured < predicted * within);
}

}  // namespace

Result<int> tell_of_lanes(TourBuilder& tour) {
  if (!tour.h100.memory_bandwidth || !tour.h100.peak(ComputeType::bf16) || tour.h100.ladder.empty()) {
    return fail("the catalogue lacks its bandwidth or its peak", tour.h100.id);
  }
  tour.open_chapter("Arithmetic is cheap, fetching is dear");
  tell_asymmetry(tour);
  if (Result<int> told = tell_trend(tour); !told) return told;
  if (Result<int> told = tell_lanes(tour); !told) return told;
  tour.open_chapter("Threads in warps");
  if (Result<int> told = tell_warps(tour); !told) return told;
  TourClaim& c =
      tour.add("switch", "Changing the thread on a core costs more than a wait for memory; a GPU's warp does not.",
               "a warp's registers stay in place: the next cycle may issue from another warp");
  tour.take(c, "switch", "change of the thread on a core");
  return 0;
}

Result<int> tell_of_waiting(TourBuilder& tour) {
  tour.open_chapter("Waiting can be hidden, width cannot");
  TourClaim& hidden = tour.add("hidden", "With more requests in flight the same wait yields more values.",
                               "values a second = requests in flight ÷ latency");
  hidden.only_if = "bandwidth is left: then more requests only wait longer";
  tour.take(hidden, "chase", "8 in flight ÷ 1: the wait is hidden");
  TourClaim& same = tour.add("one-wait", "However many wait together, one wait never gets shorter.",
                             "wait of each with 64 in flight ≥ wait of one alone");
  tour.take(same, "chase", "wait of one load with 64 in flight");
  tell_in_flight(tour);
  tour.open_chapter("The ladder and its two costs");
  tell_ladder(tour);
  tell_two_costs(tour);
  TourClaim& sectors = tour.add("coalescing", "Neighbouring lanes that read neighbouring values share sectors.",
                                "32 lanes, 4-byte values 8 apart: min(4 × 8, 32) sectors of 32 B in place of 4");
  take_simulated(tour, sectors, "coalescing", "stride 8: sectors a request", "sectors");
  TourClaim& order = tour.add("order", "Memory comes in lines: values far apart waste the rest of each line.",
                              "GPU: 4-byte values 32 B apart fetch 32 B each, 8 times the bytes; here a line is 64 B");
  tour.take(order, "order", "every 16th ÷ adjacent");
  return 0;
}

}  // namespace corridor::app
