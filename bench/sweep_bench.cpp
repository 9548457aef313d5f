// SPDX-License-Identifier: Apache-2.0
// Times sweeps of 100,000 scenarios, and how much they save over a loop of whole-command predictions.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

#include "corridor/app/predict.h"
#include "corridor/app/sweep.h"

namespace {

using namespace corridor;

constexpr std::size_t scenarios = 100'000;
constexpr std::size_t naive_scenarios = 200;  // of the same range; their time is scaled

const Assets& assets() {
  static const Result<Assets> opened = Assets::open();
  if (!opened) {
    std::cerr << opened.error().line() << '\n';
    std::exit(1);
  }
  return *opened;
}

app::PredictRequest request(const char* model) {
  app::PredictRequest wanted;
  wanted.model = model;
  wanted.device = "h100-sxm";
  wanted.tp = 8;
  return wanted;
}

double seconds_of(const std::chrono::steady_clock::time_point& start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The same answers from one `corridor predict` a scenario: names resolved and files parsed each time.
double naive_seconds_a_scenario(app::PredictRequest wanted) {
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < naive_scenarios; ++i) {
    wanted.batch = static_cast<double>(1 + i * (scenarios / naive_scenarios));
    auto answer = app::predict(assets(), wanted);
    benchmark::DoNotOptimize(answer);
  }
  return seconds_of(start) / static_cast<double>(naive_scenarios);
}

void sweep_of(benchmark::State& state, const char* model, const char* over) {
  const app::SweepRequest wanted{request(model), {over}, {}};
  double seconds = 0;
  std::size_t points = 0;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    const Result<app::SweepAnswer> answer = app::sweep(assets(), wanted);
    seconds += seconds_of(start);
    if (!answer) {
      state.SkipWithError(answer.error().line().c_str());
      return;
    }
    points += answer->point_count();
  }
  const double each = seconds / static_cast<double>(points);
  state.counters["points"] = static_cast<double>(points) / static_cast<double>(state.iterations());
  state.counters["us_a_point"] = each * 1e6;
  state.counters["naive_us_a_point"] = naive_seconds_a_scenario(request(model)) * 1e6;
  state.counters["times_faster_than_naive"] = state.counters["naive_us_a_point"] / state.counters["us_a_point"];
}

BENCHMARK_CAPTURE(sweep_of, dense_batch, "meta-llama/Llama-3.1-70B", "batch=1..100000:1")
    ->Unit(benchmark::kSecond)
    ->Iterations(1)
    ->UseRealTime();
BENCHMARK_CAPTURE(sweep_of, experts_batch, "Qwen/Qwen3-235B-A22B", "batch=1..100000:1")
    ->Unit(benchmark::kSecond)
    ->Iterations(1)
    ->UseRealTime();
BENCHMARK_CAPTURE(sweep_of, dense_concurrency, "meta-llama/Llama-3.1-70B", "concurrency=1..100000:1")
    ->Unit(benchmark::kSecond)
    ->Iterations(1)
    ->UseRealTime();
BENCHMARK_CAPTURE(sweep_of, dense_context, "meta-llama/Llama-3.1-70B", "context=1..100000:1")
    ->Unit(benchmark::kSecond)
    ->Iterations(1)
    ->UseRealTime();

}  // namespace
