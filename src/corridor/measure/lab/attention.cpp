// SPDX-License-Identifier: Apache-2.0
// Attention with the score matrix in memory against attention in blocks with a running softmax.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "corridor/measure/cpu/memory.h"
#include "corridor/measure/lab/attention_lab.h"
#include "corridor/measure/lab/experiment.h"
#include "corridor/measure/lab/lab_kernels.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

constexpr std::size_t block_queries = 64;
constexpr std::size_t block_keys = 256;
constexpr double trips = 4;  // scores written and read, probabilities written and read

float scale_of(const AttentionShape& s) {
  return 1.0F / std::sqrt(static_cast<float>(s.head_dim));
}

/// One block of queries of one head against all keys; scores never leave the cache.
void attend_block(const AttentionData& a, const AttentionShape& s, std::size_t head, std::size_t query, float* pad) {
  const LabKernels& k = lab_kernels();
  const std::size_t d = s.head_dim;
  float* scores = pad + block_scratch_floats;
  std::array<float, block_queries> largest;
  std::array<float, block_queries> sums{};
  largest.fill(-INFINITY);
  const std::size_t rows = std::min(block_queries, s.tokens - query);
  const float* q = a.q + (head * s.tokens + query) * d;
  const float* keys = a.keys_by_component + head * s.tokens * d;
  const float* values = a.values + head * s.tokens * d;
  float* out = a.out + (head * s.tokens + query) * d;
  std::fill(out, out + rows * d, 0.0F);
  for (std::size_t t = 0; t < s.tokens; t += block_keys) {
    const std::size_t columns = std::min(block_keys, s.tokens - t);
    k.block_product(q, d, keys + t, s.tokens, scores, block_keys, rows, columns, d, false, pad);
    for (std::size_t r = 0; r < rows; ++r) {
      float* row = scores + r * block_keys;
      const float now = std::max(largest[r], scale_of(s) * k.max_row(row, columns));
      const float keep = std::exp(largest[r] - now);
      sums[r] = sums[r] * keep + k.exp_row(row, columns, scale_of(s), now);
      if (keep != 1.0F) k.scale_row(out + r * d, d, keep);
      largest[r] = now;
    }
    k.block_product(scores, block_keys, values + t * d, d, out, d, rows, d, columns, true, pad);
  }
  for (std::size_t r = 0; r < rows; ++r) k.scale_row(out + r * d, d, 1.0F / sums[r]);
}

template <class Work>
void each_head(WorkerTeam& team, const AttentionShape& s, const Work& work) {
  team.run([&](int index) {
    const Part part = part_of(s.heads, 1, index, team.size());
    for (std::size_t head = part.begin; head < part.end; ++head) work(head, index);
  });
}

double largest_difference(const float* a, const float* b, std::size_t count) {
  double worst = 0;
  for (std::size_t i = 0; i < count; ++i) worst = std::max(worst, std::abs(double{a[i]} - b[i]));
  return worst;
}

LabResult predictions(const LabMachine& machine, const AttentionShape& s) {
  LabResult out;
  const double scores = s.score_bytes();
  const double memory = trips * scores / machine.bandwidth().value();
  const double arithmetic = s.flop() / machine.fp32.value();
  out.formulas.push_back(fmt::format("{} heads, {} tokens, head dimension {}: {}; scores {}", s.heads, s.tokens,
                                     s.head_dim, units::print(units::Flops{s.flop()}),
                                     units::print(units::Bytes{scores})));
  out.formulas.push_back(
      fmt::format("saved: 4 × {} ÷ {}", units::print(units::Bytes{scores}), units::print(machine.bandwidth())));
  out.tolerance =
      "saved time at least 0.85 times two of the four trips (products may hide theirs) and at most 2.5 times the "
      "prediction (a store also reads its line); in blocks 0.9 to 3 times the arithmetic alone (without exponentials)";
  constexpr double bare_trips = 2;  // of the row by row pass between the products: nothing hides them
  constexpr double fastest = 0.85;
  LabReading through;
  through.what = "with the score matrix";
  out.readings = {through, reading("in blocks", LabUnit::seconds, arithmetic, 0.9, 3),
                  reading("saved", LabUnit::seconds, memory, fastest * bare_trips / trips, 2.5)};
  out.readings[0].predicted = memory + arithmetic;
  LabReading same;
  same.what = "largest difference of the two results";
  same.unit = LabUnit::ratio;
  same.high = 1e-4;
  out.readings.push_back(same);
  return out;
}

}  // namespace

void attend_through_scores(WorkerTeam& team, const AttentionData& a, const AttentionShape& s, float* scores,
                           float* pads) {
  const LabKernels& k = lab_kernels();
  const std::size_t d = s.head_dim;
  const std::size_t n = s.tokens;
  each_head(team, s, [&](std::size_t head, int index) {
    k.block_product(a.q + head * n * d, d, a.keys_by_component + head * n * d, n, scores + head * n * n, n, n, n, d,
                    false, pads + static_cast<std::size_t>(index) * attention_pad_floats);
  });
  each_head(team, s, [&](std::size_t head, int) {
    for (std::size_t r = 0; r < n; ++r) {
      float* row = scores + (head * n + r) * n;
      const float largest = scale_of(s) * k.max_row(row, n);
      const float sum = k.exp_row(row, n, scale_of(s), largest);
      k.scale_row(row, n, 1.0F / sum);
    }
  });
  each_head(team, s, [&](std::size_t head, int index) {
    k.block_product(scores + head * n * n, n, a.values + head * n * d, d, a.out + head * n * d, d, n, d, n, false,
                    pads + static_cast<std::size_t>(index) * attention_pad_floats);
  });
}

void attend_in_blocks(WorkerTeam& team, const AttentionData& a, const AttentionShape& s, float* pads) {
  each_head(team, s, [&](std::size_t head, int index) {
    for (std::size_t query = 0; query < s.tokens; query += block_queries) {
      attend_block(a, s, head, query, pads + static_cast<std::size_t>(index) * attention_pad_floats);
    }
  });
}

Result<LabResult> run_attention(const LabContext& context) {
  const LabMachine& machine = context.machine;
  AttentionShape s;
  s.heads = std::max<std::size_t>(machine.beyond_caches() / (s.tokens * s.tokens * sizeof(float)),
                                  static_cast<std::size_t>(context.team.size()));
  LabResult out = predictions(machine, s);
  const std::size_t vectors = s.heads * s.tokens * s.head_dim;
  const std::size_t scores = s.heads * s.tokens * s.tokens;
  const std::size_t pads = attention_pad_floats * static_cast<std::size_t>(context.team.size());
  const std::size_t floats = 5 * vectors + scores + pads;
  const Memory memory(floats * sizeof(float));
  if (memory.data() == nullptr) return no_memory("attention", static_cast<double>(floats * sizeof(float)));
  auto* base = reinterpret_cast<float*>(memory.data());
  fill_values(context.team, base, 3 * vectors, 1, -1, 1);
  AttentionData through{base, base + vectors, base + 2 * vectors, base + 3 * vectors};
  AttentionData blocks = through;
  blocks.out = base + 4 * vectors;
  float* score_data = base + 5 * vectors;
  float* pad_data = score_data + scores;
  const auto samples = time_in_turn(context.settings(1.5, 3), context.clock,
                                    {[&] { attend_through_scores(context.team, through, s, score_data, pad_data); },
                                     [&] { attend_in_blocks(context.team, blocks, s, pad_data); }});
  if (!samples) return tl::unexpected(samples.error());
  take_time(out.readings[0], (*samples)[0]);
  take_time(out.readings[1], (*samples)[1]);
  take_time(out.readings[2], (*samples)[0]);
  out.readings[2].measured = ((*samples)[0].median - (*samples)[1].median).value();
  out.readings[3].measured = largest_difference(through.out, blocks.out, vectors);
  return out;
}

}  // namespace corridor::measure
