// SPDX-License-Identifier: Apache-2.0
// On a GPU: a matrix product value by value and in tiles, and attention through a score matrix and in blocks.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "corridor/measure/lab/gpu/gpu_lab.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

using cuda::Buffer;
using cuda::DevicePointer;
using cuda::Shape;
using units::Bytes;

constexpr double turn_bytes = 128;  // what one load of a warp takes of the L1 or of shared memory in its turn

/// Largest difference of two arrays of floats, found on the GPU.
Result<double> largest_gpu_difference(const GpuLabContext& context, DevicePointer a, DevicePointer b,
                                      std::uint64_t count) {
  const Result<Buffer> small = context.gpu.allocate(4096);
  if (!small) return tl::unexpected(small.error());
  if (auto done = context.gpu.launch("lab_difference", Shape{1, 1024}, a, b, count, small->place()); !done) {
    return tl::unexpected(done.error());
  }
  float found = 0;
  if (auto done = context.gpu.read_back(&found, small->place(), sizeof found); !done) {
    return tl::unexpected(done.error());
  }
  return double{found};
}

LabReading same_result(double most) {
  LabReading same;
  same.what = "largest difference of the two results";
  same.unit = LabUnit::ratio;
  same.high = most;
  return same;
}

/// Side of the matrices: 4096, or less where memory is small; a multiple of 128.
std::uint32_t product_side(const LabMachine& machine) {
  std::uint32_t n = 4096;
  while (n > 512 && 4.0 * n * n * sizeof(float) > static_cast<double>(beyond_l2(machine))) n /= 2;
  return n;
}

struct ProductTimes {
  double naive = 0, tiled = 0;
};

ProductTimes predict_products(const LabMachine& machine, const LabLevel& near, double flop) {
  const double arithmetic = flop / machine.fp32.value();
  const double loads = flop / 2 / 32 * 2;  // of warps: two for the 32 multiply-adds of a warp
  return {std::max(arithmetic, loads * turn_bytes / near.bandwidth.value()), arithmetic};
}

const LabLevel& nearest_cache(const LabMachine& machine) {
  for (const char* name : {"L1", "shared memory"}) {
    if (const LabLevel* level = machine.find(name)) return *level;
  }
  return machine.main_memory();
}

}  // namespace

Result<LabResult> run_gpu_tiling(const GpuLabContext& context) {
  constexpr std::uint32_t tile = 128;
  constexpr double least_ratio = 1.0 / 3, most_ratio = 1.8;
  const LabMachine& machine = context.machine;
  const std::uint32_t n = product_side(machine);
  const double flop = 2.0 * n * n * n;
  const LabLevel& near = nearest_cache(machine);
  const ProductTimes times = predict_products(machine, near, flop);
  LabResult out;
  out.formulas.push_back(
      fmt::format("C[{0}][{0}] = A · B, f32: {1}; value by value each multiply-add of a warp loads "
                  "twice, 128 B of the {2} each: {1} ÷ 64 × 256 B ÷ {3}",
                  n, units::print(units::Flops{flop}), near.name, units::print(near.bandwidth)));
  out.formulas.push_back(fmt::format("in tiles of 128 × 128 arithmetic decides: {} ÷ {}",
                                     units::print(units::Flops{flop}), units::print(machine.fp32)));
  out.tolerance =
      "value by value 0.5 to 1.7 times; in tiles 0.9 to 2 times its arithmetic, because loads, addresses and barriers "
      "take turns too; faster by at least a third of the predicted ratio";
  out.readings = {
      reading("value by value", LabUnit::seconds, times.naive, 0.5, 1.7),
      reading("in tiles", LabUnit::seconds, times.tiled, 0.9, 2),
      reading("value by value ÷ in tiles", LabUnit::ratio, times.naive / times.tiled, least_ratio, most_ratio)};
  const std::uint64_t count = std::uint64_t{n} * n;
  const Result<Buffer> memory = context.gpu.allocate(4 * count * sizeof(float));
  if (!memory) return tl::unexpected(memory.error());
  if (auto done = fill_words(context, *memory, float_words[0], float_words[1]); !done) {
    return tl::unexpected(done.error());
  }
  const DevicePointer a = memory->place(), b = a + 4 * count, naive = b + 4 * count, tiled = naive + 4 * count;
  const auto by_value = time_on_gpu(context, [&] {
    return context.gpu.launch("lab_product_naive", Shape{static_cast<unsigned>(count / 256), 256}, a, b, naive, n);
  });
  if (!by_value) return tl::unexpected(by_value.error());
  const auto by_tile = time_on_gpu(context, [&] {
    return context.gpu.launch("lab_product_tiled", Shape{(n / tile) * (n / tile), 256}, a, b, tiled, n);
  });
  if (!by_tile) return tl::unexpected(by_tile.error());
  take_time(out.readings[0], *by_value);
  take_time(out.readings[1], *by_tile);
  take_time(out.readings[2], *by_value);
  out.readings[2].measured = by_value->median / by_tile->median;
  LabReading same = same_result(1e-2);  // sums of some thousand products of numbers up to one, in two orders
  const Result<double> difference = largest_gpu_difference(context, naive, tiled, count);
  if (!difference) return tl::unexpected(difference.error());
  same.measured = *difference;
  out.readings.push_back(std::move(same));
  return out;
}

namespace {

constexpr std::uint32_t attention_tokens = 2048;
constexpr double head_components = 64;

struct AttentionTimes {
  double through = 0, blocks = 0;
};

/// Score and weighted sum, each bound by its arithmetic or by its turns of shared memory; the score matrix's trips hide
/// behind them, except the two of the softmax between.
AttentionTimes predict_attention(const LabMachine& machine, const LabLevel& shared, double scores) {
  // Loads from shared memory of a warp: six for eight multiply-adds of a score, six for sixteen of a weighted sum.
  const double multiply_adds = scores * head_components;
  const double turn_s = turn_bytes / shared.bandwidth.value() / 32;
  const double arithmetic = 2 * multiply_adds / machine.fp32.value();
  const double score_s = std::max(arithmetic, multiply_adds * 6 / 8 * turn_s);
  const double weigh_s = std::max(arithmetic, multiply_adds * 6 / 16 * turn_s);
  const double trip = 4 * scores / machine.bandwidth().value();
  return {std::max(score_s, trip) + 2 * trip + std::max(weigh_s, trip), score_s + weigh_s};
}

}  // namespace

Result<LabResult> run_gpu_attention(const GpuLabContext& context) {
  constexpr std::uint32_t n = attention_tokens;
  constexpr double row = static_cast<double>(n) * n * sizeof(float);
  const LabMachine& machine = context.machine;
  const LabLevel* shared = machine.find("shared memory");
  if (shared == nullptr) return fail("the ladder has no shared memory", "lab attention", "measure this GPU first");
  const auto heads = static_cast<unsigned>(std::max(1.0, static_cast<double>(beyond_l2(machine)) / row));
  const double scores = static_cast<double>(heads) * n * n;
  const AttentionTimes times = predict_attention(machine, *shared, scores);
  LabResult out;
  out.formulas.push_back(fmt::format("{} heads, {} tokens, head dimension 64: {}; scores {}", heads, n,
                                     units::print(units::Flops{4 * scores * head_components}),
                                     units::print(Bytes{4 * scores})));
  out.formulas.push_back(fmt::format(
      "a product takes max(FLOP ÷ {}, its loads × 128 B ÷ {}); a trip of the scores {}, two of the four hide behind "
      "the products where those take longer",
      units::print(machine.fp32), units::print(shared->bandwidth),
      units::print(Bytes{4 * scores} / machine.bandwidth())));
  out.tolerance =
      "in blocks 0.75 to 1.75 times: exponentials and barriers are not in it; saved 0.5 to 2 times: it is the "
      "difference of two longer times";
  out.readings = {reading("with the score matrix", LabUnit::seconds, times.through, usual_low, 1.75),
                  reading("in blocks", LabUnit::seconds, times.blocks, usual_low, 1.75),
                  reading("saved", LabUnit::seconds, times.through - times.blocks, 0.5, 2)};
  const std::uint64_t vectors = std::uint64_t{heads} * n * 64;
  const Result<Buffer> memory = context.gpu.allocate(5 * vectors * 4 + static_cast<std::size_t>(4 * scores));
  if (!memory) return tl::unexpected(memory.error());
  if (auto done = fill_words(context, *memory, float_words[0], float_words[1]); !done) {
    return tl::unexpected(done.error());
  }
  const DevicePointer q = memory->place(), k = q + 4 * vectors, v = k + 4 * vectors, through = v + 4 * vectors;
  const DevicePointer blocks = through + 4 * vectors, matrix = blocks + 4 * vectors;
  const Shape shape{heads * n / 64, 256};
  const auto apart = time_on_gpu(context, [&]() -> Result<void> {
    if (auto done = context.gpu.launch("lab_scores", shape, q, k, matrix, n); !done) return done;
    if (auto done = context.gpu.launch("lab_softmax", Shape{heads * n, 256}, matrix, n); !done) return done;
    return context.gpu.launch("lab_weigh", shape, matrix, v, through, n);
  });
  if (!apart) return tl::unexpected(apart.error());
  const auto joined =
      time_on_gpu(context, [&] { return context.gpu.launch("lab_attention", shape, q, k, v, blocks, n); });
  if (!joined) return tl::unexpected(joined.error());
  take_time(out.readings[0], *apart);
  take_time(out.readings[1], *joined);
  take_time(out.readings[2], *apart);
  out.readings[2].measured = (apart->median - joined->median).value();
  LabReading same = same_result(1e-3);
  const Result<double> difference = largest_gpu_difference(context, through, blocks, vectors);
  if (!difference) return tl::unexpected(difference.error());
  same.measured = *difference;
  out.readings.push_back(std::move(same));
  return out;
}

}  // namespace corridor::measure
