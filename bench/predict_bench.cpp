// SPDX-License-Identifier: Apache-2.0
// Times one prediction of an 80-layer mixture-of-experts model with everything loaded, against the bare arithmetic: a
// loop over the same number of layers that takes the larger of two quotients for each operation.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>

#include "corridor/app/predict.h"

namespace {

using namespace corridor;

constexpr std::int64_t layer_count = 80;

const Assets& assets() {
  static const Result<Assets> opened = Assets::open();
  if (!opened) {
    std::cerr << opened.error().line() << '\n';
    std::exit(1);
  }
  return *opened;
}

app::PredictRequest request() {
  app::PredictRequest wanted;
  wanted.model = "Qwen/Qwen3-235B-A22B";
  wanted.device = "h100-sxm";
  wanted.tp = 8;
  wanted.batch = 64;
  return wanted;
}

/// The answer with its model cut to 80 layers.
app::PredictAnswer loaded() {
  Result<app::PredictAnswer> answer = app::predict(assets(), request());
  if (!answer) {
    std::cerr << answer.error().line() << '\n';
    std::exit(1);
  }
  answer->model.layers.resize(1);
  answer->model.layers.front().count = layer_count;
  return std::move(*answer);
}

void warm_prediction(benchmark::State& state) {
  const app::PredictAnswer answer = loaded();
  for (auto _ : state) {
    auto prediction =
        roofline::predict({answer.model, answer.device, answer.scenario, answer.engine, answer.constants, nullptr});
    benchmark::DoNotOptimize(prediction);
  }
}
BENCHMARK(warm_prediction)->Unit(benchmark::kMicrosecond);

/// From names to the answer: the files of the model, the device and the engine are parsed each time.
void prediction_from_names(benchmark::State& state) {
  for (auto _ : state) {
    auto answer = app::predict(assets(), request());
    benchmark::DoNotOptimize(answer);
  }
}
BENCHMARK(prediction_from_names)->Unit(benchmark::kMicrosecond);

/// What the bare roofline costs: 80 layers of 16 operations, bytes and FLOPs given.
void bare_roofline_loop(benchmark::State& state) {
  constexpr std::size_t operations = 16;
  struct Operation {
    double bytes, flops;
  };
  std::array<Operation, operations> layer{};
  for (std::size_t i = 0; i < operations; ++i) {
    layer[i] = {1e6 * static_cast<double>(i + 1), 3e8 * static_cast<double>(operations - i)};
  }
  double bandwidth = 3.35e12;
  double peak = 989.4e12;
  for (auto _ : state) {
    benchmark::DoNotOptimize(bandwidth);
    benchmark::DoNotOptimize(peak);
    double seconds = 0;
    for (std::int64_t i = 0; i < layer_count; ++i) {
      for (const Operation& op : layer) seconds += std::max(op.bytes / bandwidth, op.flops / peak);
    }
    benchmark::DoNotOptimize(seconds);
  }
}
BENCHMARK(bare_roofline_loop)->Unit(benchmark::kMicrosecond);

}  // namespace
