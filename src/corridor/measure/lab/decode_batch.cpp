// SPDX-License-Identifier: Apache-2.0
// One pass over a weight matrix beyond the caches for 1, 2, 4 … tokens at once.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "corridor/measure/lab/experiment.h"
#include "corridor/measure/lab/weights.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

constexpr std::size_t batches[] = {1, 2, 4, 8, 16, 32, 64};
// The width of a 70B model and 64 more: vectors a power of two apart would all fall into the same few sets of a cache.
constexpr std::size_t depth = 8192 + 64;

struct Shape {
  std::size_t rows = 0;
  double bytes = 0;
  [[nodiscard]] double flop(std::size_t batch) const {
    return 2 * static_cast<double>(rows * depth) * static_cast<double>(batch);
  }
};

LabReading predict(const LabMachine& machine, const Shape& shape, std::size_t batch) {
  constexpr double fastest = 0.85;
  constexpr double slowest = 1.25;
  constexpr double loop_fraction = 0.5;  // of the peak: weights are widened on the same units
  const double memory = shape.bytes / machine.bandwidth().value();
  const double arithmetic = shape.flop(batch) / machine.fp32.value();
  LabReading r = reading(fmt::format("batch {}", batch), LabUnit::seconds, std::max(memory, arithmetic), fastest, 1);
  r.high = slowest * (memory + arithmetic / loop_fraction);
  r.series = "time of a pass";
  r.x = static_cast<double>(batch);
  return r;
}

}  // namespace

Result<LabResult> run_decode_batch(const LabContext& context) {
  const LabMachine& machine = context.machine;
  Shape shape;
  shape.rows = machine.beyond_caches() / (depth * 2) / 4 * 4;
  shape.bytes = static_cast<double>(shape.rows * depth * 2);
  const double ridge_batch = machine.ridge();  // bf16: two bytes and two FLOP a weight and token
  LabResult out;
  out.x_label = "batch";
  out.y_label = "seconds a pass";
  out.formulas.push_back(fmt::format("time = max({} ÷ {}, batch × {} ÷ {}): flat up to batch {:.3g}",
                                     units::print(units::Bytes{shape.bytes}), units::print(machine.bandwidth()),
                                     units::print(units::Flops{shape.flop(1)}), units::print(machine.fp32),
                                     ridge_batch));
  out.tolerance =
      "0.85 times the prediction at least; at most 25 % above memory and arithmetic one after the other, "
      "arithmetic at half its peak";
  for (const std::size_t batch : batches) out.readings.push_back(predict(machine, shape, batch));

  const StoredWeights weights = make_weights(context.team, LabWeights::bf16, shape.rows, depth);
  if (weights.matrix.codes == nullptr) return no_memory("decode-batch", shape.bytes);
  const std::size_t most = batches[std::size(batches) - 1];
  std::vector<float> x(most * depth, 0.5F);
  std::vector<float> y(most * shape.rows);
  std::vector<std::function<void()>> variants;
  for (const std::size_t batch : batches) {
    variants.emplace_back([&, batch] {
      context.team.run([&](int index) {
        const Part part = part_of(shape.rows, 4, index, context.team.size());
        lab_kernels().product(LabWeights::bf16, weights.matrix, part.begin, part.end, x.data(), batch, y.data());
      });
    });
  }
  // Batch 1 would come after the batch of 64, which leaves memory idle, and start slowly; so every pass follows a read.
  const auto* codes = static_cast<const std::byte*>(weights.matrix.codes);
  const auto read = [&] { read_all(context, codes, static_cast<std::size_t>(shape.bytes)); };
  variants.emplace_back(read);
  const auto samples = time_in_turn(context.settings(2, 3), context.clock, variants, read);
  if (!samples) return tl::unexpected(samples.error());
  for (std::size_t i = 0; i < std::size(batches); ++i) take_time(out.readings[i], (*samples)[i]);

  const double one = out.readings.front().measured;
  const auto below = static_cast<double>(std::bit_floor(static_cast<unsigned>(std::max(2.0, ridge_batch / 2))));
  constexpr double flat_within = 1.5;
  LabReading flat = reading(fmt::format("batch {:g} ÷ batch 1: still flat", below), LabUnit::ratio, 1, 0, flat_within);
  LabReading steep = reading(fmt::format("batch {} ÷ batch 1: arithmetic decides", most), LabUnit::ratio,
                             std::max(1.0, static_cast<double>(most) / ridge_batch), 0.5, 2.5);
  for (const LabReading& r : out.readings) {
    if (r.x == below) flat.measured = r.measured / one;
  }
  steep.measured = out.readings.back().measured / one;
  if (flat.measured > 0) out.readings.push_back(flat);
  out.readings.push_back(steep);
  allow_for_drift(out, machine, samples->back(), shape.bytes);
  return out;
}

}  // namespace corridor::measure
