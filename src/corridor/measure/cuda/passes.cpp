// SPDX-License-Identifier: Apache-2.0
// Repeats by trial, then passes until the estimator is content; the first failure of the GPU ends it.
#include "corridor/measure/cuda/passes.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace corridor::measure::cuda {
namespace {

constexpr unsigned most_repeats = 1U << 26U;
constexpr unsigned dead_clock_repeats = 1000;  // no kernel does that much in the half microsecond that events resolve

struct Budget {
  double budget_s, least_pass_s;
  int most_passes;
};

Budget budget_of(Effort effort) {
  switch (effort) {
    case Effort::quick:
      return {0.03, 0.5e-3, 40};
    case Effort::normal:
      return {0.12, 1e-3, 100};
    case Effort::thorough:
      break;
  }
  return {0.6, 2e-3, 300};
}

EstimatorSettings settings_of(const Budget& budget) {
  EstimatorSettings settings;
  settings.budget = units::Seconds{budget.budget_s};
  settings.least_pass = units::Seconds{budget.least_pass_s};
  settings.most_passes = budget.most_passes;
  return settings;
}

Samples per_repeat(Samples samples, unsigned repeats) {
  const double count = repeats;
  for (units::Seconds* time : {&samples.median, &samples.p10, &samples.p90, &samples.best}) *time = *time / count;
  samples.repeats = count;
  return samples;
}

}  // namespace

EstimatorSettings pass_settings(Effort effort) {
  return settings_of(budget_of(effort));
}

EstimatorSettings peak_settings(Effort effort) {
  constexpr double longer = 8;  // power management reacts within some milliseconds
  Budget budget = budget_of(effort);
  budget.budget_s *= longer;
  budget.least_pass_s *= longer;
  return settings_of(budget);
}

Result<unsigned> find_repeats(Gpu& gpu, units::Seconds least, const GpuWork& work) {
  constexpr double most_growth = 32;  // the first times hold the launch and a cold start
  unsigned repeats = 1;
  while (true) {
    const Result<units::Seconds> time = gpu.time([&] { return work(repeats); });
    if (!time) return tl::unexpected(time.error());
    if (*time >= least || repeats >= most_repeats) return repeats;
    if (!(time->value() > 0) && repeats >= dead_clock_repeats) {
      return fail("the GPU's events show no time for work that takes some", "events", "restart the driver");
    }
    const double wanted = time->value() > 0 ? 1.2 * (least / *time) : most_growth;
    repeats = static_cast<unsigned>(
        std::min<double>(most_repeats, static_cast<double>(repeats) * std::clamp(wanted, 1.5, most_growth) + 1));
  }
}

Result<Samples> time_work(Gpu& gpu, const EstimatorSettings& settings, const GpuWork& work) {
  const Result<unsigned> repeats = find_repeats(gpu, settings.least_pass, work);
  if (!repeats) return tl::unexpected(repeats.error());
  std::optional<Error> failure;
  Result<Samples> samples = estimate(settings, [&] {
    if (failure) return units::Seconds{};
    const Result<units::Seconds> time = gpu.time([&] { return work(*repeats); });
    if (time) return *time;
    failure = time.error();
    return units::Seconds{};
  });
  if (failure) return tl::unexpected(std::move(*failure));
  if (!samples) return samples;
  return per_repeat(*samples, *repeats);
}

Result<units::Seconds> glance(Gpu& gpu, units::Seconds least, const GpuWork& work) {
  const Result<unsigned> repeats = find_repeats(gpu, least, work);
  if (!repeats) return tl::unexpected(repeats.error());
  units::Seconds best;
  for (int pass = 0; pass < 2; ++pass) {
    const Result<units::Seconds> time = gpu.time([&] { return work(*repeats); });
    if (!time) return time;
    if (pass == 0 || *time < best) best = *time;
  }
  return best / static_cast<double>(*repeats);
}

}  // namespace corridor::measure::cuda
