// SPDX-License-Identifier: Apache-2.0
// The decode loop: one pass over all layers inside one start of the team, workers meeting at barriers.
#include "corridor/measure/lab/decode_loop.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "corridor/measure/cpu/kernels.h"
#include "corridor/measure/cpu/memory.h"
#include "corridor/measure/lab/experiment.h"
#include "corridor/units/text.h"

namespace corridor::measure {
namespace {

constexpr double bf16_bytes = 2;
constexpr std::size_t row_grain = 4;  // rows a worker takes at a time

void add_norm(const std::vector<float>& x, std::vector<float>& out) {
  constexpr float epsilon = 1e-6F;
  float sum = 0;
  for (const float v : x) sum += v * v;
  const float factor = 1.0F / std::sqrt(sum / static_cast<float>(x.size()) + epsilon);
  for (std::size_t i = 0; i < x.size(); ++i) out[i] = x[i] * factor;
}

void add_to(std::vector<float>& x, const std::vector<float>& y, const Part& part) {
  for (std::size_t i = part.begin; i < part.end; ++i) x[i] += y[i];
}

}  // namespace

double DecodeShape::weight_bytes() const {
  const double h = static_cast<double>(hidden);
  const double q = static_cast<double>(heads * head_dim);
  const double kv = static_cast<double>(kv_heads * head_dim);
  const double layer = h * (q + 2 * kv) + q * h + 3 * h * static_cast<double>(intermediate);
  return bf16_bytes * (static_cast<double>(layers) * layer + h * static_cast<double>(vocab));
}

double DecodeShape::kv_bytes_per_token() const {
  return bf16_bytes * 2 * static_cast<double>(layers * kv_heads * head_dim);
}

std::string DecodeShape::fault() const {
  if (layers == 0 || hidden == 0 || heads == 0 || kv_heads == 0 || head_dim == 0 || intermediate == 0 || vocab == 0) {
    return "a width is zero";
  }
  constexpr std::size_t grain = 64;
  if (hidden % grain != 0 || intermediate % grain != 0 || (heads * head_dim) % grain != 0) {
    return "a width is not a multiple of 64";
  }
  if (heads % kv_heads != 0) return "the query heads are not a multiple of the KV heads";
  if (heads / kv_heads > 16) return "more than 16 query heads share one KV head";
  if (head_dim % 16 != 0 || head_dim > 256) return "the head dimension is not a multiple of 16 up to 256";
  return {};
}

void SpinBarrier::wait() {
  constexpr int spins = 4000;
  const unsigned round = round_.load(std::memory_order_acquire);
  if (waiting_.fetch_add(1, std::memory_order_acq_rel) + 1 == workers_) {
    waiting_.store(0, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    return;
  }
  for (int i = 0; round_.load(std::memory_order_acquire) == round; ++i) {
    if (i > spins) std::this_thread::yield();
  }
}

DecodeLoop::DecodeLoop(WorkerTeam& team, DecodeShape shape, std::size_t most_tokens)
    : team_(team),
      shape_(std::move(shape)),
      room_((std::max<std::size_t>(most_tokens, 1) + key_tile - 1) / key_tile * key_tile),
      barrier_(team.size()),
      x_(shape_.hidden, 0.5F),
      qkv_((shape_.heads + 2 * shape_.kv_heads) * shape_.head_dim),
      mixed_(shape_.heads * shape_.head_dim),
      added_(shape_.hidden),
      hidden_(2 * shape_.intermediate),
      logits_(shape_.vocab),
      normed_(static_cast<std::size_t>(team.size()), std::vector<float>(shape_.hidden)),
      best_(static_cast<std::size_t>(team.size())) {}

Result<std::unique_ptr<DecodeLoop>> DecodeLoop::make(WorkerTeam& team, const DecodeShape& shape,
                                                     std::size_t most_tokens) {
  if (const std::string fault = shape.fault(); !fault.empty()) {
    return fail("the loop cannot run this model: " + fault, shape.model, "name a plain dense model, or leave it out");
  }
  std::unique_ptr<DecodeLoop> loop(new DecodeLoop(team, shape, most_tokens));
  if (!loop->fill()) {
    return no_memory("decode", shape.weight_bytes() + shape.kv_bytes_per_token() * static_cast<double>(loop->room_));
  }
  return loop;
}

bool DecodeLoop::fill() {
  const DecodeShape& s = shape_;
  const auto made = [](const StoredWeights& w) { return w.matrix.codes != nullptr; };
  const auto weights = [&](std::size_t rows, std::size_t depth) {
    return make_weights(team_, LabWeights::bf16, rows, depth);
  };
  table_ = weights(s.vocab, s.hidden);
  bool ok = made(table_);
  for (std::size_t i = 0; i < s.layers && ok; ++i) {
    Layer layer{weights(qkv_.size(), s.hidden), weights(s.hidden, mixed_.size()), weights(hidden_.size(), s.hidden),
                weights(s.hidden, s.intermediate)};
    ok = made(layer.qkv) && made(layer.out) && made(layer.gate_up) && made(layer.down);
    layers_.push_back(std::move(layer));
  }
  const std::size_t cached = 2 * s.layers * s.kv_heads * room_ * s.head_dim;
  cache_ = std::make_unique<Memory>(cached * sizeof(std::uint16_t));
  if (!ok || cache_->data() == nullptr) return false;
  team_.run([&](int index) {
    const Part part = part_of(s.layers * s.kv_heads, 1, index, team_.size());
    const std::size_t one = 2 * room_ * s.head_dim;
    fill_bf16(reinterpret_cast<std::uint16_t*>(cache_->data()), part.begin * one, part.end * one);
  });
  return true;
}

std::uint16_t* DecodeLoop::keys(std::size_t layer, std::size_t kv_head) const {
  const std::size_t at = (layer * shape_.kv_heads + kv_head) * 2 * room_ * shape_.head_dim;
  return reinterpret_cast<std::uint16_t*>(cache_->data()) + at;
}

std::uint16_t* DecodeLoop::values(std::size_t layer, std::size_t kv_head) const {
  return keys(layer, kv_head) + room_ * shape_.head_dim;
}

void DecodeLoop::product(int index, const StoredWeights& w, const float* x, float* y) const {
  const Part part = part_of(w.matrix.rows, row_grain, index, team_.size());
  lab_kernels().product(w.format, w.matrix, part.begin, part.end, x, 1, y);
}

void DecodeLoop::attend(int index, std::size_t layer, std::size_t context) {
  const DecodeShape& s = shape_;
  const std::size_t d = s.head_dim;
  const std::size_t group = s.heads / s.kv_heads;
  const Part part = part_of(s.kv_heads, 1, index, team_.size());
  for (std::size_t head = part.begin; head < part.end; ++head) {
    const float* key = qkv_.data() + (s.heads + head) * d;
    const float* value = key + s.kv_heads * d;
    for (std::size_t i = 0; i < d; ++i) {
      keys(layer, head)[key_index(context - 1, i, d)] = to_bf16(key[i]);
      values(layer, head)[(context - 1) * d + i] = to_bf16(value[i]);
    }
    lab_kernels().cached_attention(qkv_.data() + head * group * d, group, d, keys(layer, head), values(layer, head),
                                   context, mixed_.data() + head * group * d);
  }
}

void DecodeLoop::feed_forward(int index, const Layer& layer) {
  auto& normed = normed_[static_cast<std::size_t>(index)];
  add_norm(x_, normed);
  const std::size_t width = shape_.intermediate;
  const Part part = part_of(width, row_grain, index, team_.size());
  // A worker makes the same rows of gate and up, so it can multiply them without meeting the others.
  const LabKernels& k = lab_kernels();
  const LabMatrix& m = layer.gate_up.matrix;
  k.product(LabWeights::bf16, m, part.begin, part.end, normed.data(), 1, hidden_.data());
  k.product(LabWeights::bf16, m, width + part.begin, width + part.end, normed.data(), 1, hidden_.data());
  for (std::size_t i = part.begin; i < part.end; ++i) {
    const float gate = hidden_[i];
    hidden_[i] = gate / (1.0F + std::exp(-gate)) * hidden_[width + i];
  }
  barrier_.wait();
  product(index, layer.down, hidden_.data(), added_.data());
  add_to(x_, added_, part_of(shape_.hidden, row_grain, index, team_.size()));
  barrier_.wait();
}

void DecodeLoop::work(int index, std::size_t context) {
  auto& normed = normed_[static_cast<std::size_t>(index)];
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    add_norm(x_, normed);
    product(index, layer.qkv, normed.data(), qkv_.data());
    barrier_.wait();
    attend(index, i, context);
    barrier_.wait();
    product(index, layer.out, mixed_.data(), added_.data());
    add_to(x_, added_, part_of(shape_.hidden, row_grain, index, team_.size()));
    barrier_.wait();
    feed_forward(index, layer);
  }
  add_norm(x_, normed);
  product(index, table_, normed.data(), logits_.data());
  choose(index);
}

void DecodeLoop::choose(int index) {
  const Part part = part_of(shape_.vocab, row_grain, index, team_.size());
  std::size_t best = part.begin;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    if (logits_[i] > logits_[best]) best = i;
  }
  best_[static_cast<std::size_t>(index)] = best;
}

std::size_t DecodeLoop::step(std::size_t context) {
  const std::size_t length = std::clamp<std::size_t>(context, 1, room_);
  const auto* row = static_cast<const std::uint16_t*>(table_.matrix.codes) + token_ * shape_.hidden;
  for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = from_bf16(row[i]);
  team_.run([&](int index) { work(index, length); });
  token_ = best_.front();
  for (const std::size_t candidate : best_) {
    if (candidate < logits_.size() && logits_[candidate] > logits_[token_]) token_ = candidate;
  }
  return token_;
}

Result<LabResult> run_decode(const LabContext& context, const DecodeShape& shape,
                             const std::vector<DecodePoint>& points) {
  const LabMachine& machine = context.machine;
  LabResult out;
  out.x_label = "tokens in the cache";
  out.y_label = "seconds a token";
  out.formulas.push_back(fmt::format("{}: {} of weights and {} × context of cache a token, at {}", shape.model,
                                     units::print(units::Bytes{shape.weight_bytes()}),
                                     units::print(units::Bytes{shape.kv_bytes_per_token()}),
                                     units::print(machine.bandwidth())));
  out.tolerance =
      "the first context within 15 % of what `corridor predict` expects, longer ones within 40 %; never "
      "faster than the limit by more than 15 %";
  constexpr double near = 0.15;
  constexpr double far = 0.4;
  std::size_t most = 1;
  for (const DecodePoint& point : points) most = std::max(most, point.context);
  Result<std::unique_ptr<DecodeLoop>> loop = DecodeLoop::make(context.team, shape, most + 1);
  if (!loop) return tl::unexpected(loop.error());
  std::vector<std::function<void()>> variants;
  for (const DecodePoint& point : points) {
    const double within = out.readings.empty() ? near : far;
    LabReading r =
        reading(fmt::format("context {}", point.context), LabUnit::seconds, point.predicted_s, 1 - within, 1 + within);
    r.series = "time of a token";
    r.x = static_cast<double>(point.context);
    out.readings.push_back(std::move(r));
    variants.emplace_back([&] { (*loop)->step(point.context); });
  }
  const std::size_t control_bytes = machine.beyond_caches();
  const Memory control(control_bytes);
  if (control.data() == nullptr) return no_memory("decode", static_cast<double>(control_bytes));
  context.team.run([&](int index) {
    const Part part = part_of(control_bytes, block_bytes, index, context.team.size());
    std::memset(control.data() + part.begin, 1, part.size());
  });
  variants.emplace_back([&] { read_all(context, control.data(), control_bytes); });
  const auto samples = time_in_turn(context.settings(2, 5), context.clock, variants);
  if (!samples) return tl::unexpected(samples.error());
  for (std::size_t i = 0; i < points.size(); ++i) take_time(out.readings[i], (*samples)[i]);
  allow_for_drift(out, machine, samples->back(), static_cast<double>(control_bytes));
  out.notes.push_back(
      fmt::format("Weights and cache hold made-up numbers in the shapes of {}; the head reads the input "
                  "table; rotary embedding and biases are left out",
                  shape.model));
  return out;
}

}  // namespace corridor::measure
