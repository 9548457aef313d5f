// SPDX-License-Identifier: Apache-2.0
// On a GPU: one pass over a weight matrix for 1, 2, 4 … tokens, in 16, 8 and 4 bits, and a decode loop whose cache
// grows.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "corridor/measure/cuda/graph.h"
#include "corridor/measure/lab/gpu/gpu_lab.h"
#include "corridor/measure/lab/lab_kernels.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

using cuda::Buffer;
using cuda::DevicePointer;
using cuda::Shape;
using units::Bytes;

constexpr std::uint32_t pass_grain = 8;  // rows that one warp makes at a time, at most

/// A weight matrix in one of the formats, vectors of 32 tokens and their products.
struct GpuWeights {
  std::uint32_t rows = 0, depth = 0;
  Buffer codes, scales, x, y;
};

Result<GpuWeights> make_gpu_weights(const GpuLabContext& context, LabWeights format, std::uint32_t rows,
                                    std::uint32_t depth) {
  constexpr std::size_t most_batch = 32;
  const std::size_t count = std::size_t{rows} * depth;
  Result<Buffer> codes = context.gpu.allocate(code_bytes(format, count));
  if (!codes) return tl::unexpected(codes.error());
  Result<Buffer> scales = context.gpu.allocate(std::max<std::size_t>(4096, 2 * scale_count(format, count)));
  if (!scales) return tl::unexpected(scales.error());
  Result<Buffer> x = context.gpu.allocate(most_batch * depth * sizeof(float));
  if (!x) return tl::unexpected(x.error());
  Result<Buffer> y = context.gpu.allocate(most_batch * rows * sizeof(float));
  if (!y) return tl::unexpected(y.error());
  const bool is_bf16 = format == LabWeights::bf16;
  constexpr std::uint32_t small_scale = 0x3b003b00;  // 2⁻⁹, twice
  auto done =
      is_bf16 ? fill_words(context, *codes, bf16_words[0], bf16_words[1]) : fill_words(context, *codes, 0xffffffffU, 0);
  if (done) done = fill_words(context, *scales, 0, small_scale);
  if (done) done = fill_words(context, *x, float_words[0], float_words[1]);
  if (!done) return tl::unexpected(done.error());
  return GpuWeights{rows, depth, std::move(*codes), std::move(*scales), std::move(*x), std::move(*y)};
}

Result<void> start_pass(const GpuLabContext& context, std::string_view kernel, const GpuWeights& w,
                        std::uint32_t turns = 1) {
  return context.gpu.launch(kernel, blocks_per_sm(context, 8), w.codes.place(), w.scales.place(), w.x.place(),
                            w.y.place(), w.rows, w.depth, turns);
}

std::uint32_t rows_of(double bytes, double row_bytes) {
  return std::max<std::uint32_t>(static_cast<std::uint32_t>(bytes / row_bytes) / pass_grain, 1) * pass_grain;
}

/// A batch and the rows a warp makes with it: so many weights share one load of a vector.
struct BatchCase {
  std::uint32_t batch, rows_a_warp;
};
constexpr BatchCase batch_cases[] = {{1, 4}, {2, 8}, {4, 8}, {8, 8}, {16, 4}, {32, 2}};

struct PassTimes {
  double memory = 0, arithmetic = 0, vectors = 0;
  [[nodiscard]] double longest() const { return std::max({memory, arithmetic, vectors}); }
  [[nodiscard]] double inside() const { return std::max(arithmetic, vectors); }
};

PassTimes predict_pass(const LabMachine& machine, double weights, const BatchCase& c) {
  const LabLevel* l1 = machine.find("L1");
  const double near = (l1 == nullptr ? machine.ladder.front() : *l1).bandwidth.value();
  PassTimes t;
  t.memory = 2 * weights / machine.bandwidth().value();
  t.arithmetic = 2 * weights * c.batch / machine.fp32.value();
  t.vectors = sizeof(float) * weights * c.batch / c.rows_a_warp / near;
  return t;
}

}  // namespace

Result<LabResult> run_gpu_decode_batch(const GpuLabContext& context) {
  constexpr std::uint32_t depth = 8192;  // the width of a 70B model
  const LabMachine& machine = context.machine;
  const std::uint32_t rows = rows_of(static_cast<double>(beyond_l2(machine)), 2.0 * depth);
  const double weights = static_cast<double>(rows) * depth;
  LabResult out;
  out.x_label = "batch";
  out.y_label = "seconds a pass";
  out.formulas.push_back(fmt::format("time = max({} ÷ {}, batch × {} ÷ {}, vectors through the L1)",
                                     units::print(Bytes{2 * weights}), units::print(machine.bandwidth()),
                                     units::print(units::Flops{2 * weights}), units::print(machine.fp32)));
  out.tolerance =
      "0.75 times the longest at least; at most 25 % above memory and the longer of the two others one after the other";
  const Result<GpuWeights> w = make_gpu_weights(context, LabWeights::bf16, rows, depth);
  if (!w) return tl::unexpected(w.error());
  std::uint32_t flat_batch = 1;
  for (const BatchCase& c : batch_cases) {
    const PassTimes times = predict_pass(machine, weights, c);
    if (times.inside() <= times.memory / 2) flat_batch = c.batch;
    LabReading r = reading(fmt::format("batch {}", c.batch), LabUnit::seconds, times.longest(), usual_low, usual_high);
    r.high = usual_high * (times.memory + times.inside());
    r.series = "time of a pass";
    r.x = c.batch;
    const auto samples =
        time_on_gpu(context, [&] { return start_pass(context, fmt::format("lab_pass_b{}", c.batch), *w); });
    if (!samples) return tl::unexpected(samples.error());
    take_time(r, *samples);
    out.readings.push_back(std::move(r));
  }
  constexpr double flat_within = 1.5;
  LabReading flat =
      reading(fmt::format("batch {} ÷ batch 1: still flat", flat_batch), LabUnit::ratio, 1, 0, flat_within);
  const LabReading* flat_reading = out.find(fmt::format("batch {}", flat_batch));
  flat.measured = flat_reading->measured / out.readings.front().measured;
  LabReading steep = reading("batch 32 ÷ batch 1: no longer flat", LabUnit::ratio,
                             *out.readings.back().predicted / *out.readings.front().predicted, 0.5, 2);
  steep.measured = out.readings.back().measured / out.readings.front().measured;
  out.readings.push_back(std::move(flat));
  out.readings.push_back(std::move(steep));
  return out;
}

Result<LabResult> run_gpu_precision(const GpuLabContext& context) {
  struct Case {
    LabWeights format;
    const char* kernel;
  };
  constexpr Case cases[] = {
      {LabWeights::bf16, "lab_pass_b1"}, {LabWeights::int8, "lab_pass_int8"}, {LabWeights::int4, "lab_pass_int4"}};
  constexpr std::uint32_t depth = 4096, near_depth = 1024;
  constexpr std::uint32_t turns = 64;  // over the small matrix, so that the launch is a small part
  const LabMachine& machine = context.machine;
  const std::uint32_t rows = rows_of(static_cast<double>(beyond_l2(machine)), 2.0 * depth);
  const std::uint32_t near_rows = rows_of(machine.gpu->l2.value() / 4, 2.0 * near_depth);
  const double weights = static_cast<double>(rows) * depth;
  LabResult out;
  out.x_label = "bits a weight";
  out.y_label = "seconds a pass";
  out.tolerance = "0.75 times the bytes at least; at most 25 % above bytes and unpacking one after the other";
  for (const Case& c : cases) {
    const auto near = make_gpu_weights(context, c.format, near_rows, near_depth);
    if (!near) return tl::unexpected(near.error());
    const auto loop = time_on_gpu(context, [&] { return start_pass(context, c.kernel, *near, turns); });
    if (!loop) return tl::unexpected(loop.error());
    const double rate = static_cast<double>(near_rows) * near_depth * turns / loop->median.value();
    const double memory = weights * bits_of(c.format) / 8 / machine.bandwidth().value();
    const double unpacking = weights / rate;
    LabReading r = reading(std::string(name(c.format)), LabUnit::seconds, std::max(memory, unpacking), usual_low, 1);
    r.low = usual_low * memory;
    r.high = usual_high * (memory + unpacking);
    r.series = "time of a pass";
    r.x = bits_of(c.format);
    out.formulas.push_back(fmt::format("{}: max({} ÷ {}, {} weights ÷ {}/s unpacked)", name(c.format),
                                       units::print(Bytes{weights * bits_of(c.format) / 8}),
                                       units::print(machine.bandwidth()), units::print_count(weights),
                                       units::print_count(rate)));
    const auto far = make_gpu_weights(context, c.format, rows, depth);
    if (!far) return tl::unexpected(far.error());
    const auto samples = time_on_gpu(context, [&] { return start_pass(context, c.kernel, *far); });
    if (!samples) return tl::unexpected(samples.error());
    take_time(r, *samples);
    out.readings.push_back(std::move(r));
  }
  LabReading ratio = reading("bf16 ÷ int4", LabUnit::ratio, *out.readings[0].predicted / *out.readings[2].predicted,
                             usual_low, usual_high);
  ratio.low = 1;  // the claim: fewer bits take less time
  ratio.measured = out.readings[0].measured / out.readings[2].measured;
  out.readings.push_back(std::move(ratio));
  out.notes.emplace_back("The rate of unpacking is that of the same loop on weights in the L2, measured first");
  return out;
}

namespace {

constexpr std::uint32_t decode_layers = 8, decode_depth = 4096, decode_kv_heads = 8, decode_head_dim = 128;
constexpr std::uint32_t layer_rows = 53248;  // with depth 4096 the weights of a layer of an 8B model

/// What a layer reads, and the room of its cache.
struct DecodeMemory {
  GpuWeights weights;
  Buffer cache, query, parts;
  std::uint32_t room = 0;
};

double kv_bytes(std::uint32_t tokens) {
  return 2.0 * 2 * decode_kv_heads * decode_head_dim * tokens;  // keys and values, bf16
}

Result<DecodeMemory> make_decode_memory(const GpuLabContext& context, std::uint32_t rows, std::uint32_t room,
                                        std::uint32_t splits) {
  Result<GpuWeights> weights = make_gpu_weights(context, LabWeights::bf16, rows, decode_depth);
  if (!weights) return tl::unexpected(weights.error());
  Result<Buffer> cache = context.gpu.allocate(static_cast<std::size_t>(kv_bytes(room)) * decode_layers);
  if (!cache) return tl::unexpected(cache.error());
  Result<Buffer> query = context.gpu.allocate(std::size_t{4} * decode_kv_heads * decode_head_dim * 4 * 2);
  if (!query) return tl::unexpected(query.error());
  Result<Buffer> parts =
      context.gpu.allocate(std::size_t{splits} * decode_kv_heads * 4 * (decode_head_dim + 2) * sizeof(float));
  if (!parts) return tl::unexpected(parts.error());
  auto done = fill_words(context, *cache, bf16_words[0], bf16_words[1]);
  if (done) done = fill_words(context, *query, float_words[0], float_words[1]);
  if (!done) return tl::unexpected(done.error());
  return DecodeMemory{std::move(*weights), std::move(*cache), std::move(*query), std::move(*parts), room};
}

/// One token: of each layer the weights, the attention over its cache, and the join of its parts.
Result<void> decode_token(const GpuLabContext& context, const DecodeMemory& m, std::uint32_t length,
                          std::uint32_t splits) {
  const std::uint64_t half = static_cast<std::uint64_t>(kv_bytes(m.room)) / 2;
  const DevicePointer out = m.query.place() + m.query.bytes() / 2;
  for (std::uint32_t layer = 0; layer < decode_layers; ++layer) {
    if (auto done = start_pass(context, "lab_pass_b1", m.weights); !done) return done;
    const DevicePointer keys = m.cache.place() + layer * 2 * half;
    const Shape shape{decode_kv_heads * splits / 8, 256};
    if (auto done = context.gpu.launch("lab_cache", shape, keys, keys + half, m.query.place(), m.parts.place(), length,
                                       m.room, splits);
        !done) {
      return done;
    }
    const Shape heads{decode_kv_heads * 4, decode_head_dim};
    if (auto done = context.gpu.launch("lab_join", heads, m.parts.place(), out, splits); !done) return done;
  }
  return {};
}

}  // namespace

Result<LabResult> run_gpu_decode(const GpuLabContext& context) {
  const LabMachine& machine = context.machine;
  const double far = static_cast<double>(beyond_l2(machine));
  // All layers share one matrix: it is larger than the L2, so that none finds it there.
  const std::uint32_t rows = std::min(layer_rows, rows_of(far, 2.0 * decode_depth));
  const bool bounded = machine.most_memory.value() > 0 || !(machine.gpu->memory_free.value() > 0);
  const double room = bounded ? far : std::min(4 * far, machine.gpu->memory_free.value() / 3);
  std::uint32_t longest = 65536;
  while (longest > 4096 && kv_bytes(longest) * decode_layers > room) longest /= 2;
  const std::uint32_t contexts[] = {longest / 16, longest / 4, longest};
  const auto splits = static_cast<std::uint32_t>(machine.gpu->sm_count) * 2;
  const double weights = 2.0 * rows * decode_depth * decode_layers;
  const bool graphs = machine.gpu->graph_node.value() > 0 && cuda::Graph::available(context.gpu.api());
  const units::Seconds start = graphs ? machine.gpu->graph_node : machine.dispatch;
  LabResult out;
  out.x_label = "tokens in the cache";
  out.y_label = "seconds a token";
  out.formulas.push_back(
      fmt::format("{} layers: {} of weights and {} × context of cache a token, at {}, and {} kernels of {}",
                  decode_layers, units::print(Bytes{weights}), units::print(Bytes{kv_bytes(1) * decode_layers}),
                  units::print(machine.bandwidth()), 3 * decode_layers, units::print(start)));
  out.tolerance = "within 25 %";
  const Result<DecodeMemory> memory = make_decode_memory(context, rows, longest, splits);
  if (!memory) return tl::unexpected(memory.error());
  for (const std::uint32_t length : contexts) {
    const double bytes = weights + kv_bytes(length) * decode_layers;
    LabReading r =
        reading(fmt::format("context {}", length), LabUnit::seconds,
                bytes / machine.bandwidth().value() + 3 * decode_layers * start.value(), usual_low, usual_high);
    r.series = "time of a token";
    r.x = length;
    const auto token = [&] { return decode_token(context, *memory, length, splits); };
    if (auto done = token(); !done) return tl::unexpected(done.error());  // compiles what a graph records
    cuda::Graph graph(context.gpu);
    if (graphs) {
      if (auto done = graph.capture(token); !done) return tl::unexpected(done.error());
    }
    const auto samples = time_on_gpu(context, [&] { return graphs ? graph.launch() : token(); });
    if (!samples) return tl::unexpected(samples.error());
    take_time(r, *samples);
    out.readings.push_back(std::move(r));
  }
  LabReading growth = reading("longest ÷ shortest context", LabUnit::ratio,
                              *out.readings.back().predicted / *out.readings.front().predicted, usual_low, usual_high);
  growth.measured = out.readings.back().measured / out.readings.front().measured;
  out.readings.push_back(std::move(growth));
  out.notes.emplace_back(
      "Weights and cache hold made-up numbers; of a layer of a model of eight billion parameters the bytes are kept, "
      "norms and activations are left out");
  return out;
}

}  // namespace corridor::measure
