// SPDX-License-Identifier: Apache-2.0
// Keeps every pass; the interval of the median comes from order statistics, so no shape of noise is assumed.
#include "corridor/measure/estimator.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace corridor::measure {
namespace {

using units::Seconds;

constexpr int most_refused = 3;        // a clock that does not move must not keep a measurement running
constexpr std::size_t drift_from = 9;  // passes; a third of fewer says nothing
constexpr double outlier_beyond = 1.5;
constexpr double most_repeats = 1e9;
constexpr int most_growths = 24;

/// Half width of the 95 % interval of the median ÷ the median: order statistics n/2 ± 0.98 √n.
double uncertainty(const std::vector<double>& times) {
  std::vector<double> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(sorted.size());
  const double reach = 0.98 * std::sqrt(n);
  const auto last = static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(std::clamp(std::floor(n / 2 - reach), 0.0, last));
  const auto high = static_cast<std::size_t>(std::clamp(std::ceil(n / 2 + reach), 0.0, last));
  return (sorted[high] - sorted[low]) / 2 / percentile(sorted, 0.5);
}

}  // namespace

double percentile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double place = std::clamp(q, 0.0, 1.0) * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (place - static_cast<double>(below));
}

const char* name(StopReason reason) {
  switch (reason) {
    case StopReason::steady:
      return "steady";
    case StopReason::budget_spent:
      return "budget spent";
    case StopReason::most_passes:
      return "most passes";
    case StopReason::dead_clock:
      return "clock does not move";
  }
  return "";
}

void Estimator::add(Seconds pass) {
  if (!(pass.value() > 0) || !std::isfinite(pass.value())) {
    ++refused_;
    return;
  }
  spent_ += pass;
  last_ = pass;
  if (warmed_ < settings_.warm_up) {
    ++warmed_;
    return;
  }
  times_.push_back(pass.value());
}

StopReason Estimator::reason() const {
  if (refused_ >= most_refused) return StopReason::dead_clock;
  const auto passes = static_cast<int>(times_.size());
  if (passes >= settings_.least_passes && uncertainty(times_) <= settings_.steady_within) return StopReason::steady;
  if (passes >= settings_.most_passes) return StopReason::most_passes;
  return StopReason::budget_spent;
}

bool Estimator::finished() const {
  if (refused_ >= most_refused) return true;
  if (times_.empty() || static_cast<int>(times_.size()) < settings_.sure_passes) return false;
  return reason() != StopReason::budget_spent || spent_ + last_ > settings_.budget;
}

Samples Estimator::samples() const {
  Samples s;
  s.passes = static_cast<int>(times_.size());
  s.stop = reason();
  if (times_.empty()) return s;
  s.median = Seconds{percentile(times_, 0.5)};
  s.p10 = Seconds{percentile(times_, 0.1)};
  s.p90 = Seconds{percentile(times_, 0.9)};
  s.best = Seconds{percentile(times_, 0)};
  s.outliers = static_cast<int>(
      std::count_if(times_.begin(), times_.end(), [&](double t) { return t > outlier_beyond * s.median.value(); }));
  if (times_.size() >= drift_from) {
    const auto third = static_cast<std::ptrdiff_t>(times_.size() / 3);
    const double first = percentile({times_.begin(), times_.begin() + third}, 0.5);
    const double last = percentile({times_.end() - third, times_.end()}, 0.5);
    s.drift = (last - first) / s.median.value();
  }
  return s;
}

Result<Samples> estimate(const EstimatorSettings& settings, const std::function<Seconds()>& pass) {
  Estimator estimator(settings);
  while (!estimator.finished()) estimator.add(pass());
  Samples samples = estimator.samples();
  if (samples.passes == 0) {
    return fail("the clock does not move during the measurement", "measure",
                "try again, or name a device with --device");
  }
  return samples;
}

Result<Samples> time_passes(const EstimatorSettings& settings, const Clock& clock,
                            const std::function<void(double repeats)>& work) {
  double repeats = 1;
  const auto pass = [&] {
    const Seconds start = clock.now();
    work(repeats);
    return clock.now() - start;
  };
  EstimatorSettings rest = settings;
  for (int growth = 0; growth < most_growths; ++growth) {
    const Seconds once = pass();
    if (!(once.value() > 0)) break;
    if (once >= settings.least_pass) {
      if (rest.warm_up > 0) --rest.warm_up;  // this pass was one
      break;
    }
    // At most sixteen times more at a turn: the first pass may have paid for page faults and a sleeping clock.
    const double factor = std::clamp(1.1 * (settings.least_pass / once), 1.0, 16.0);
    if (repeats >= most_repeats) break;
    repeats = std::min(std::ceil(repeats * factor), most_repeats);
  }
  Result<Samples> samples = estimate(rest, pass);
  if (!samples) return samples;
  samples->repeats = repeats;
  for (Seconds* time : {&samples->median, &samples->p10, &samples->p90, &samples->best}) *time = *time / repeats;
  return samples;
}

Figure rate_figure(double amount, const Samples& samples, std::string how) {
  const double seconds = samples.median.value();
  return {seconds > 0 ? amount / seconds : 0, samples.spread(), samples.passes, std::move(how)};
}

Figure time_figure(double parts, const Samples& samples, std::string how) {
  return {parts > 0 ? samples.median.value() / parts : 0, samples.spread(), samples.passes, std::move(how)};
}

}  // namespace corridor::measure
