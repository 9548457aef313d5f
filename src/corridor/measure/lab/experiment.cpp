// SPDX-License-Identifier: Apache-2.0
// The list of experiments, how a reading is judged, and how variants are timed in turn.
#include "corridor/measure/lab/experiment.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "corridor/measure/cpu/kernels.h"
#include "corridor/measure/lab/gpu/gpu_lab.h"
#include "corridor/units/text.h"

namespace corridor::measure {

std::string_view name(LabUnit unit) {
  switch (unit) {
    case LabUnit::seconds:
      return "s";
    case LabUnit::bytes_per_second:
      return "B/s";
    case LabUnit::flop_per_second:
      return "FLOP/s";
    case LabUnit::per_second:
      return "1/s";
    case LabUnit::cycles:
      return "cycles";
    case LabUnit::ratio:
      break;
  }
  return "ratio";
}

bool LabReading::holds() const {
  if (!judged()) return true;
  if (!std::isfinite(measured)) return false;
  return (!low || measured >= *low) && (!high || measured <= *high);
}

bool LabResult::holds() const {
  const auto judged = [](const LabReading& r) { return r.judged(); };
  return std::any_of(readings.begin(), readings.end(), judged) &&
         std::all_of(readings.begin(), readings.end(), [](const LabReading& r) { return r.holds(); });
}

const LabReading* LabResult::find(std::string_view what) const {
  const auto found =
      std::find_if(readings.begin(), readings.end(), [&](const LabReading& r) { return r.what == what; });
  return found == readings.end() ? nullptr : &*found;
}

EstimatorSettings LabContext::settings(double budget_s, int least_passes) const {
  EstimatorSettings settings;
  settings.budget = units::Seconds{budget_s * effort};
  settings.least_passes = least_passes;
  settings.steady_within = 0.01;
  return settings;
}

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all = {
      {"intensity", "Few operations a byte: memory decides the speed; many: arithmetic does; between them the ridge.",
       run_intensity, run_gpu_intensity},
      {"chase", "More requests in flight hide the wait until the bandwidth is used up; one wait never gets shorter.",
       run_chase, run_gpu_chase},
      {"switch", "Changing the thread on a core costs more than waiting for memory; a GPU changes the warp each cycle.",
       run_switch, run_gpu_switch},
      {"order", "Memory comes in lines: a value from each line costs as much as the whole line.", run_order,
       run_gpu_order},
      {"fusion", "One pass with three operations moves a third of the bytes of three passes.", run_fusion,
       run_gpu_fusion},
      {"tiling", "The same matrix product in blocks reads each value fewer times, until arithmetic decides.",
       run_tiling, run_gpu_tiling},
      {"attention", "Attention in blocks never writes the score matrix and saves its four trips to memory.",
       run_attention, run_gpu_attention},
      {"decode-batch", "A pass over the weights takes the same time for one token or several, up to the ridge.",
       run_decode_batch, run_gpu_decode_batch},
      {"precision", "Fewer bits a weight are fewer bytes and less time, until unpacking takes longer.", run_precision,
       run_gpu_precision},
      {"decode", "The time of one token is its bytes over the bandwidth, and the cache of past tokens adds to them.",
       nullptr, run_gpu_decode},
      {"dispatch", "A small task costs its start, whatever it does; many in one start share that cost.", run_dispatch,
       run_gpu_dispatch},
      {"divergence", "Two branches in one warp run one after the other.", nullptr, run_gpu_divergence, true},
      {"occupancy", "More resident warps hide more of the wait, until something else is full.", nullptr,
       run_gpu_occupancy, true},
      {"coalescing", "Neighbouring lanes that read neighbouring values share one transaction.", nullptr,
       run_gpu_coalescing, true},
  };
  return all;
}

const Experiment* find_experiment(std::string_view name) {
  const auto& all = experiments();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Experiment& e) { return e.name == name; });
  return found == all.end() ? nullptr : &*found;
}

LabReading reading(std::string what, LabUnit unit, double predicted, double low_factor, double high_factor) {
  LabReading out;
  out.what = std::move(what);
  out.unit = unit;
  out.predicted = predicted;
  out.low = predicted * low_factor;
  out.high = predicted * high_factor;
  return out;
}

void take_time(LabReading& reading, const Samples& samples) {
  reading.measured = samples.median.value();
  reading.spread = samples.spread();
  reading.passes = samples.passes;
}

void take_rate(LabReading& reading, const Samples& samples, double amount) {
  take_time(reading, samples);
  reading.measured = samples.median.value() > 0 ? amount / samples.median.value() : 0;
}

Result<std::vector<Samples>> time_in_turn(const EstimatorSettings& settings, const Clock& clock,
                                          const std::vector<std::function<void()>>& variants,
                                          const std::function<void()>& before) {
  EstimatorSettings own = settings;
  own.warm_up = 1;
  std::vector<Estimator> rules(variants.size(), Estimator(own));
  // Each variant has its own rule; the budget is that of all together, and a busy machine may not stretch it for ever.
  constexpr double patience = 3;
  const units::Seconds start = clock.now();
  const auto enough = [&](int rounds) {
    const units::Seconds spent = clock.now() - start;
    const bool steady = std::all_of(rules.begin(), rules.end(), [](const Estimator& rule) { return rule.finished(); });
    const bool some = rounds > own.warm_up;
    const bool several = rounds >= own.warm_up + own.least_passes;
    return steady || (several && spent > own.budget) || (some && spent > own.budget * patience) ||
           rounds > own.most_passes + own.warm_up;
  };
  for (int round = 0; !enough(round); ++round) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      if (rules[i].finished()) continue;
      if (before) before();
      const units::Seconds begin = clock.now();
      variants[i]();
      rules[i].add(clock.now() - begin);
    }
  }
  std::vector<Samples> out;
  for (const Estimator& rule : rules) {
    out.push_back(rule.samples());
    if (!(out.back().median.value() > 0)) {
      return fail("the clock does not move", "experiment", "run it on another machine");
    }
  }
  return out;
}

void allow_for_drift(LabResult& out, const LabMachine& machine, const Samples& read, double bytes) {
  LabReading control;
  control.what = "a plain read, in turn";
  control.predicted = (units::Bytes{bytes} / machine.bandwidth()).value();
  take_time(control, read);
  const double factor = control.measured / *control.predicted;
  for (LabReading& r : out.readings) {
    if (r.unit != LabUnit::seconds) continue;
    if (r.low) *r.low *= std::min(1.0, factor);
    if (r.high) *r.high *= std::max(1.0, factor);
  }
  constexpr double worth_saying = 0.1;
  if (std::abs(factor - 1) > worth_saying) {
    out.notes.push_back(
        fmt::format("The machine changed: a plain read between the passes took {:.2f} times as long as for the ladder. "
                    "The bounds of times are moved by that, the predictions are not",
                    factor));
  }
  out.readings.push_back(std::move(control));
}

Part part_of(std::size_t count, std::size_t grain, int index, int workers) {
  const std::size_t grains = count / grain;
  const auto at = [&](int i) {
    return grains * static_cast<std::size_t>(i) / static_cast<std::size_t>(workers) * grain;
  };
  return {at(index), index + 1 == workers ? count : at(index + 1)};
}

void fill_values(WorkerTeam& team, float* data, std::size_t count, std::size_t grain, float low, float high) {
  team.run([&](int index) {
    const Part part = part_of(count, grain, index, team.size());
    for (std::size_t i = part.begin; i < part.end; ++i) {
      const std::uint32_t mixed = static_cast<std::uint32_t>(i) * 2654435761U >> 8U;
      data[i] = low + (high - low) * (static_cast<float>(mixed) / 16777216.0F);
    }
  });
}

void read_all(const LabContext& context, const std::byte* data, std::size_t bytes) {
  std::atomic<std::uint64_t> sink{0};
  context.team.run([&](int index) {
    const Part part = part_of(bytes / block_bytes * block_bytes, block_bytes, index, context.team.size());
    sink += best_kernels().read(data + part.begin, part.size(), 0);
  });
}

tl::unexpected<Error> no_memory(std::string_view experiment, double bytes) {
  return fail(fmt::format("the system gives no {} of memory", units::print(units::Bytes{bytes})),
              "lab " + std::string(experiment), "free some memory and run it again");
}

}  // namespace corridor::measure
