// SPDX-License-Identifier: Apache-2.0
// One pass over the same number of weights in 32, 16, 8 and 4 bits.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "corridor/measure/lab/experiment.h"
#include "corridor/measure/lab/weights.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

constexpr std::array formats = {LabWeights::f32, LabWeights::bf16, LabWeights::int8, LabWeights::int4};
constexpr std::size_t depth = 4096;
constexpr std::size_t loop_rows = 32;  // of each thread, for the rate of the loop alone
constexpr std::size_t loop_depth = 2048;

void pass(const LabContext& context, const StoredWeights& w, const std::vector<float>& x, std::vector<float>& y) {
  context.team.run([&](int index) {
    const Part part = part_of(w.matrix.rows, 4, index, context.team.size());
    lab_kernels().product(w.format, w.matrix, part.begin, part.end, x.data(), 1, y.data());
  });
}

/// Weights a second of the loop alone: a matrix small enough to stay in each core's own cache.
Result<double> loop_rate(const LabContext& context, LabWeights format, const std::vector<float>& x,
                         std::vector<float>& y) {
  const std::size_t rows = loop_rows * static_cast<std::size_t>(context.team.size());
  const StoredWeights small = make_weights(context.team, format, rows, loop_depth);
  if (small.matrix.codes == nullptr) return no_memory("precision", small.bytes());
  const auto samples = time_passes(context.settings(0.1), context.clock, [&](double repeats) {
    context.team.run([&](int index) {
      const Part part = part_of(rows, 4, index, context.team.size());
      for (double i = 0; i < repeats; ++i) {
        lab_kernels().product(format, small.matrix, part.begin, part.end, x.data(), 1, y.data());
      }
    });
  });
  if (!samples) return tl::unexpected(samples.error());
  return static_cast<double>(rows * loop_depth) / samples->median.value();
}

}  // namespace

Result<LabResult> run_precision(const LabContext& context) {
  const LabMachine& machine = context.machine;
  const std::size_t rows = machine.beyond_caches() / (depth * sizeof(float)) / 4 * 4;
  const double count = static_cast<double>(rows * depth);
  std::vector<float> x(depth, 0.5F);
  std::vector<float> y(std::max(rows, loop_rows * static_cast<std::size_t>(context.team.size())));
  constexpr double fastest = 0.85;
  constexpr double slowest = 1.25;
  LabResult out;
  out.x_label = "bits a weight";
  out.y_label = "seconds a pass";
  out.tolerance = "at least 0.85 times the slower of bytes and unpacking; at most 25 % above both one after the other";
  std::vector<StoredWeights> stored;
  for (const LabWeights format : formats) {
    const Result<double> rate = loop_rate(context, format, x, y);
    if (!rate) return tl::unexpected(rate.error());
    const double bytes = count * bits_of(format) / 8;
    const double memory = bytes / machine.bandwidth().value();
    const double unpacking = count / *rate;
    LabReading r = reading(std::string(name(format)), LabUnit::seconds, std::max(memory, unpacking), fastest, 1);
    r.high = slowest * (memory + unpacking);
    r.series = "time of a pass";
    r.x = bits_of(format);
    out.readings.push_back(std::move(r));
    out.formulas.push_back(fmt::format("{}: max({} ÷ {}, {} weights ÷ {}/s unpacked) = max({}, {})", name(format),
                                       units::print(units::Bytes{bytes}), units::print(machine.bandwidth()),
                                       units::print_count(count), units::print_count(*rate),
                                       units::print(units::Seconds{memory}), units::print(units::Seconds{unpacking})));
    stored.push_back(make_weights(context.team, format, rows, depth));
    if (stored.back().matrix.codes == nullptr) return no_memory("precision", bytes);
  }
  out.notes.emplace_back("The rate of unpacking is that of the same loop on weights in the cache, measured first");
  std::vector<std::function<void()>> variants;
  for (const StoredWeights& w : stored) {
    variants.emplace_back([&] { pass(context, w, x, y); });
  }
  // The widest matrix is larger than the caches: reading it leaves nothing of the others there.
  const LabMatrix& widest = stored.front().matrix;
  const auto read = [&] {
    read_all(context, static_cast<const std::byte*>(widest.codes), static_cast<std::size_t>(stored.front().bytes()));
  };
  variants.emplace_back(read);
  const auto samples = time_in_turn(context.settings(0.6, 3), context.clock, variants, read);
  if (!samples) return tl::unexpected(samples.error());
  for (std::size_t i = 0; i < formats.size(); ++i) take_time(out.readings[i], (*samples)[i]);
  allow_for_drift(out, machine, samples->back(), stored.front().bytes());
  return out;
}

}  // namespace corridor::measure
