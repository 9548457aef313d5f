// SPDX-License-Identifier: Apache-2.0
// Loops against plain ones, predictions against their arithmetic, and verdicts that can fail.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <set>

#include "corridor/measure/fake_machine.h"
#include "corridor/measure/lab/attention_lab.h"
#include "corridor/measure/lab/decode_loop.h"
#include "corridor/measure/lab/experiment.h"
#include "corridor/measure/lab/weights.h"

namespace corridor::measure {
namespace {

using units::Bytes;
using units::Seconds;

/// Two threads, 16 kB and 1 MB caches, 10 GB/s, 100 GFLOP/s, 100 ns; so little memory that experiments stay small.
LabMachine small_machine(int threads = 1) {
  LabMachine m;
  m.facts.memory_available = Bytes{24.0 * 1024 * 1024};
  m.threads = threads;
  m.ladder = {{"L1", Bytes{16e3}, Bytes{32e3}, units::BytesPerSecond{200e9}, Seconds{1e-9}},
              {"L2", Bytes{1e6}, Bytes{1e6}, units::BytesPerSecond{50e9}, Seconds{1e-8}},
              {"main memory", Bytes{1e9}, Bytes{1e9}, units::BytesPerSecond{10e9}, Seconds{1e-7}}};
  m.fp32 = units::FlopsPerSecond{100e9};
  m.clock = units::Hertz{2e9};
  m.dispatch = Seconds{2e-6};
  m.update = units::BytesPerSecond{8e9};
  return m;
}

std::vector<float> numbers(std::size_t count) {
  std::vector<float> out(count);
  WorkerTeam alone(1);
  fill_values(alone, out.data(), count, 1, -1, 1);
  return out;
}

TEST(LabKernels, StoredWeightsAgreeWithOneByOne) {
  WorkerTeam team(1);
  constexpr std::size_t rows = 45;     // a block, and a rest
  constexpr std::size_t depth = 4224;  // more than one stretch of the packed vectors, and a rest
  for (const LabWeights format : {LabWeights::f32, LabWeights::bf16, LabWeights::int8, LabWeights::int4}) {
    const StoredWeights w = make_weights(team, format, rows, depth);
    ASSERT_NE(w.matrix.codes, nullptr);
    for (const std::size_t batch : {1U, 2U, 4U, 15U}) {
      const std::vector<float> x = numbers(batch * depth);
      std::vector<float> y(batch * rows, -1.0F);
      lab_kernels().product(format, w.matrix, 0, 7, x.data(), batch, y.data());
      lab_kernels().product(format, w.matrix, 7, rows, x.data(), batch, y.data());
      for (std::size_t i = 0; i < batch * rows; ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < depth; ++k) {
          sum += double{weight_at(format, w.matrix, i % rows, k)} * x[i / rows * depth + k];
        }
        EXPECT_NEAR(y[i], sum, 1e-3) << name(format) << " batch " << batch << " value " << i;
      }
    }
  }
}

TEST(LabKernels, BlocksAndRowsGiveTheSameProduct) {
  constexpr std::size_t m = 7;
  constexpr std::size_t n = 64;
  constexpr std::size_t k = 300;
  const std::vector<float> a = numbers(m * k);
  const std::vector<float> b = numbers(k * n);
  std::vector<float> rows(m * n);
  std::vector<float> blocks(m * n, 1.0F);
  std::vector<float> pad(block_scratch_floats);
  lab_kernels().row_product(a.data(), k, b.data(), n, rows.data(), n, m, n, k);
  lab_kernels().block_product(a.data(), k, b.data(), n, blocks.data(), n, m, n, k, true, pad.data());
  for (std::size_t i = 0; i < m * n; ++i) {
    double sum = 0;
    for (std::size_t p = 0; p < k; ++p) sum += double{a[i / n * k + p]} * b[p * n + i % n];
    EXPECT_NEAR(rows[i], sum, 1e-3);
    EXPECT_NEAR(blocks[i], sum + 1, 1e-3);
  }
}

/// softmax(q · K / √d) · V of one query in double.
std::vector<double> attention(const float* q, std::size_t d, std::size_t length, const auto& key, const auto& value) {
  std::vector<double> score(length);
  double largest = -1e300;
  for (std::size_t t = 0; t < length; ++t) {
    for (std::size_t i = 0; i < d; ++i) score[t] += double{q[i]} * key(t, i);
    score[t] /= std::sqrt(static_cast<double>(d));
    largest = std::max(largest, score[t]);
  }
  double sum = 0;
  for (double& s : score) sum += s = std::exp(s - largest);
  std::vector<double> out(d);
  for (std::size_t t = 0; t < length; ++t) {
    for (std::size_t i = 0; i < d; ++i) out[i] += score[t] / sum * value(t, i);
  }
  return out;
}

TEST(LabKernels, AttentionOverACacheAgreesWithThePlainFormula) {
  constexpr std::size_t heads = 5;
  constexpr std::size_t d = 48;
  constexpr std::size_t length = 100;  // one whole tile and a part of the next
  std::vector<std::uint16_t> keys(2 * key_tile * d);
  std::vector<std::uint16_t> values(2 * key_tile * d);
  fill_bf16(values.data(), 0, values.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = to_bf16(std::sin(static_cast<float>(i)));
  const std::vector<float> q = numbers(heads * d);
  std::vector<float> out(heads * d);
  lab_kernels().cached_attention(q.data(), heads, d, keys.data(), values.data(), length, out.data());
  for (std::size_t h = 0; h < heads; ++h) {
    const auto expected = attention(
        q.data() + h * d, d, length, [&](std::size_t t, std::size_t i) { return from_bf16(keys[key_index(t, i, d)]); },
        [&](std::size_t t, std::size_t i) { return from_bf16(values[t * d + i]); });
    for (std::size_t i = 0; i < d; ++i) EXPECT_NEAR(out[h * d + i], expected[i], 1e-5);
  }
}

TEST(LabKernels, BothWaysOfAttentionAgreeWithThePlainFormula) {
  WorkerTeam team(2);
  const AttentionShape s{3, 96, 32};
  const std::size_t vectors = s.heads * s.tokens * s.head_dim;
  const std::vector<float> in = numbers(3 * vectors);
  std::vector<float> scores(s.heads * s.tokens * s.tokens);
  std::vector<float> pads(2 * attention_pad_floats);
  std::vector<float> through(vectors);
  std::vector<float> blocks(vectors);
  AttentionData data{in.data(), in.data() + vectors, in.data() + 2 * vectors, through.data()};
  attend_through_scores(team, data, s, scores.data(), pads.data());
  data.out = blocks.data();
  attend_in_blocks(team, data, s, pads.data());
  const std::size_t head = 2;
  const std::size_t query = 95;
  const std::size_t base = head * s.tokens * s.head_dim;
  const auto expected = attention(
      data.q + base + query * s.head_dim, s.head_dim, s.tokens,
      [&](std::size_t t, std::size_t i) { return data.keys_by_component[base + i * s.tokens + t]; },
      [&](std::size_t t, std::size_t i) { return data.values[base + t * s.head_dim + i]; });
  for (std::size_t i = 0; i < s.head_dim; ++i) {
    EXPECT_NEAR(through[base + query * s.head_dim + i], expected[i], 1e-5);
    EXPECT_NEAR(blocks[base + query * s.head_dim + i], expected[i], 1e-5);
  }
}

TEST(LabKernels, StreamsDoWhatTheySay) {
  std::vector<float> apart = numbers(2 * lab_grain);
  std::vector<float> fused = apart;
  const std::vector<float> before = apart;
  const LabKernels& k = lab_kernels();
  k.scale(apart.data(), apart.size(), 0.5F);
  k.shift(apart.data(), apart.size(), 0.25F);
  k.clamp(apart.data(), apart.size(), 0.1F);
  k.fused(fused.data(), fused.size(), 0.5F, 0.25F, 0.1F);
  double sum = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const float expected = std::max(before[i] * 0.5F + 0.25F, 0.1F);
    EXPECT_FLOAT_EQ(apart[i], expected);
    EXPECT_FLOAT_EQ(fused[i], expected);
    sum += double{(before[i] * 0.999F + 0.001F) * 0.999F + 0.001F};
  }
  EXPECT_NEAR(k.intensity(before.data(), before.size(), 2), sum, 1e-3);
  std::vector<std::uint32_t> lines(64 * 16);
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i] = i % 16 == 0 ? static_cast<std::uint32_t>(i * i) : 1;
  std::uint32_t every16 = 0;
  for (std::size_t i = 0; i < lines.size(); i += 16) every16 += lines[i];
  EXPECT_EQ(sum_scattered(lines.data(), 64), every16);
  EXPECT_EQ(sum_strided(lines.data(), lines.size(), 16), every16);
}

TEST(LabReading, FailsOutsideItsBoundsAndOnNaN) {
  LabReading r = reading("x", LabUnit::seconds, 2.0, 0.5, 1.5);
  r.measured = 1.0;
  EXPECT_TRUE(r.holds());
  r.measured = 0.99;
  EXPECT_FALSE(r.holds());
  r.measured = 3.01;
  EXPECT_FALSE(r.holds());
  r.measured = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(r.holds());
  LabResult result;
  EXPECT_FALSE(result.holds()) << "nothing was judged";
  result.readings.push_back(r);
  EXPECT_FALSE(result.holds());
  result.readings[0].measured = 2;
  EXPECT_TRUE(result.holds());
}

TEST(LabTiming, TakesTurnsAndLeavesThePreparationOut) {
  const FakeClock clock(0.25);
  int first = 0;
  int second = 0;
  int prepared = 0;
  const auto samples = time_in_turn({}, clock, {[&] { ++first; }, [&] { ++second; }}, [&] { ++prepared; });
  ASSERT_TRUE(samples) << samples.error().line();
  EXPECT_EQ(first, second);
  EXPECT_EQ(prepared, first + second);
  EXPECT_DOUBLE_EQ((*samples)[1].median.value(), 0.25);
  const FakeClock dead(0);
  EXPECT_FALSE(time_in_turn({}, dead, {[] {}}));
}

TEST(LabTiming, ABoundMovesAsFarAsAPlainReadDoes) {
  const LabMachine m = small_machine(2);
  const double ladder_s = 1e6 / m.bandwidth().value();
  const auto judged = [&](double times_of_ladder) {
    LabResult r;
    r.readings = {reading("pass", LabUnit::seconds, 2, 0.5, 1.5), reading("ratio", LabUnit::ratio, 2, 0.5, 1.5)};
    Samples read;
    read.median = Seconds{ladder_s * times_of_ladder};
    allow_for_drift(r, m, read, 1e6);
    EXPECT_DOUBLE_EQ(*r.readings[1].high, 3) << "a ratio stays";
    EXPECT_DOUBLE_EQ(*r.readings[0].predicted, 2);
    EXPECT_FALSE(r.readings.back().judged());
    return r;
  };
  const LabResult same = judged(1.05);
  EXPECT_TRUE(same.notes.empty());
  EXPECT_NEAR(*same.readings[0].high, 3 * 1.05, 1e-9);
  const LabResult slower = judged(1.5);
  EXPECT_EQ(slower.notes.size(), 1U);
  EXPECT_NEAR(*slower.readings[0].low, 1, 1e-9);
  EXPECT_NEAR(*slower.readings[0].high, 4.5, 1e-9);
  const LabResult faster = judged(0.5);
  EXPECT_NEAR(*faster.readings[0].low, 0.5, 1e-9);
  EXPECT_NEAR(*faster.readings[0].high, 3, 1e-9);
}

TEST(LabMachine, PicksTheLevelThatHoldsTheWorkingSet) {
  const LabMachine m = small_machine(2);
  EXPECT_EQ(m.level_for(Bytes{16e3}).name, "L1");
  EXPECT_EQ(m.level_for(Bytes{400e3}).name, "L2");
  EXPECT_EQ(m.level_for(Bytes{600e3}).name, "main memory") << "two threads share the L2";
  EXPECT_DOUBLE_EQ(m.ridge(), 10);
  EXPECT_EQ(m.beyond_caches(), std::size_t{8} * 1024 * 1024) << "a third of the free memory";
}

TEST(LabParts, CoverEverythingOnce) {
  for (const int workers : {1, 3, 7}) {
    std::size_t at = 0;
    for (int i = 0; i < workers; ++i) {
      const Part part = part_of(103, 4, i, workers);
      EXPECT_EQ(part.begin, at);
      at = part.end;
    }
    EXPECT_EQ(at, 103U);
  }
}

/// Experiments on the small machine with a clock that gives every pass the same time.
class LabExperiments : public testing::Test {
 protected:
  LabMachine machine_ = small_machine();
  FakeClock clock_{0.01};
  WorkerTeam team_{1};
  LabContext context_{machine_, clock_, team_, 1};
  const double bytes_ = static_cast<double>(machine_.beyond_caches());
};

TEST_F(LabExperiments, FusionPredictsTrafficAndFailsWhenNothingIsSaved) {
  const auto r = run_fusion(context_);
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_DOUBLE_EQ(*r->find("three passes")->predicted, 6 * bytes_ / 8e9);
  EXPECT_DOUBLE_EQ(*r->find("one pass")->predicted, 2 * bytes_ / 8e9);
  EXPECT_DOUBLE_EQ(r->find("three passes ÷ one pass")->measured, 1);
  EXPECT_FALSE(r->holds());
}

TEST_F(LabExperiments, OrderPredictsWholeLines) {
  const auto r = run_order(context_);
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_DOUBLE_EQ(*r->find("adjacent")->predicted, 4 / 10e9);
  EXPECT_DOUBLE_EQ(*r->find("every 2nd value")->high, 1.25 * (8 / 10e9 + 1 / 2e9)) << "memory, and a cycle of the loop";
  EXPECT_DOUBLE_EQ(*r->find("every 16th value")->predicted, 64 / 10e9);
  EXPECT_DOUBLE_EQ(*r->find("one value of each line, scattered")->high, 1e-7);
  // Passes of equal time read a sixteenth of the values: the measured ratio is the stride.
  EXPECT_NEAR(r->find("every 16th ÷ adjacent")->measured, 16, 1e-9);
}

TEST_F(LabExperiments, ChasePredictsFlightOverWaitUpToTheBandwidth) {
  const auto r = run_chase(context_);
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_DOUBLE_EQ(*r->find("4 in flight a thread")->predicted, 4 / 1e-7);
  EXPECT_DOUBLE_EQ(*r->find("32 in flight a thread")->predicted, 10e9 / 64);
  EXPECT_DOUBLE_EQ(*r->find("wait of one load with 64 in flight")->low, 0.85e-7);
}

TEST_F(LabExperiments, PrecisionCountsScalesAndIntensityItsOperations) {
  const auto r = run_precision(context_);
  ASSERT_TRUE(r) << r.error().line();
  EXPECT_DOUBLE_EQ(r->find("int4")->x, 4.5);
  EXPECT_DOUBLE_EQ(r->find("int8")->x, 8.5);
  // One pass and one repeat of the loop last the same, so the loop alone seems slow: unpacking bounds the time.
  EXPECT_GT(*r->find("bf16")->predicted, bytes_ / 2 / 10e9);
}

TEST(LabDecode, CountsItsBytesAndRemembersTheCache) {
  WorkerTeam team(2);
  const DecodeShape shape{"tiny", 2, 128, 4, 2, 32, 192, 512};
  EXPECT_DOUBLE_EQ(shape.weight_bytes(), 2.0 * (2 * (128 * 256 + 128 * 128 + 3 * 128 * 192) + 512 * 128));
  EXPECT_DOUBLE_EQ(shape.kv_bytes_per_token(), 2.0 * 2 * 2 * 2 * 32);
  const auto loop = DecodeLoop::make(team, shape, 100);
  ASSERT_TRUE(loop) << loop.error().line();
  (*loop)->step(1);
  const std::vector<float> short_context = (*loop)->logits();
  (*loop)->step(90);
  EXPECT_NE((*loop)->logits(), short_context);
  for (const float v : (*loop)->logits()) ASSERT_TRUE(std::isfinite(v));
  WorkerTeam alone(1);
  const auto other = DecodeLoop::make(alone, shape, 100);
  (*other)->step(1);
  ASSERT_EQ((*other)->logits().size(), short_context.size());
  for (std::size_t i = 0; i < short_context.size(); ++i) EXPECT_NEAR((*other)->logits()[i], short_context[i], 1e-4);
  EXPECT_FALSE(DecodeLoop::make(alone, {"odd", 1, 100, 4, 3, 32, 192, 512}, 1));
}

TEST(LabList, NamesAreUniqueAndEachHasALaw) {
  std::set<std::string_view> names;
  for (const Experiment& e : experiments()) {
    EXPECT_TRUE(names.insert(e.name).second) << e.name;
    EXPECT_TRUE(e.sentence.ends_with("."));
    EXPECT_FALSE(e.needs_gpu && e.run != nullptr);
    EXPECT_NE(e.run_gpu, nullptr) << e.name;
  }
  EXPECT_EQ(find_experiment("no such"), nullptr);
}

}  // namespace
}  // namespace corridor::measure
