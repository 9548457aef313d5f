// SPDX-License-Identifier: Apache-2.0
// How a figure is taken: passes until their median stands still or the budget is spent, then median, spread, drift.
//
//   const SystemClock clock;
//   const auto samples = time_passes({.budget = Seconds{0.3}}, clock, [&](double repeats) { … });
//   samples->median     // 41.8 µs for one repeat
//   samples->spread()   // 0.013: (90th − 10th percentile) ÷ median
//   const Figure read = rate_figure(bytes_of_one_repeat, *samples, "read, 2 threads");
//
// The median is the answer; the spread says how far to trust it. `best` is kept for comparison with programs that print
// the best pass (STREAM). A pass that lasts far longer than the others was disturbed from outside and is counted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "corridor/base/result.h"
#include "corridor/measure/clock.h"
#include "corridor/measure/measurement.h"
#include "corridor/units/units.h"

namespace corridor::measure {

struct EstimatorSettings {
  units::Seconds budget{0.3};       ///< for all counted passes together
  units::Seconds least_pass{2e-3};  ///< time_passes repeats the work until one pass lasts this long
  int warm_up = 1;                  ///< passes that are not counted
  int least_passes = 5;             ///< unless the budget ends first
  int sure_passes = 1;              ///< taken even when the budget ends first; a spread needs three
  int most_passes = 200;
  double steady_within = 0.005;  ///< enough when the median is known to this fraction (half width of its 95 % interval)
};

enum class StopReason { steady, budget_spent, most_passes, dead_clock };
[[nodiscard]] const char* name(StopReason);  ///< "steady", "budget spent", …

/// What the passes said. Times are of one pass, or of one repeat where the work was repeated.
struct Samples {
  units::Seconds median, p10, p90, best;
  int passes = 0;
  int outliers = 0;  ///< passes longer than the median by more than half of it
  double drift = 0;  ///< (median of the last third − median of the first third) ÷ median; 0 under nine passes
  double repeats = 1;
  StopReason stop = StopReason::budget_spent;
  [[nodiscard]] double spread() const { return median.value() > 0 ? (p90 - p10) / median : 0; }
};

/// The stopping rule as an object: feed it the passes, ask whether to go on.
class Estimator {
 public:
  explicit Estimator(const EstimatorSettings& settings) : settings_(settings) {}
  /// Takes the time of one pass. A time that is not positive and finite is no pass; after three of them the rule gives
  /// up.
  void add(units::Seconds pass);
  /// True when no further pass should be started; the next one is taken to last as long as the last one.
  [[nodiscard]] bool finished() const;
  /// Zero passes: every time is zero.
  [[nodiscard]] Samples samples() const;

 private:
  [[nodiscard]] StopReason reason() const;
  EstimatorSettings settings_;
  std::vector<double> times_;  ///< seconds, in the order of the passes
  units::Seconds spent_, last_;
  int refused_ = 0, warmed_ = 0;
};

/// Runs `pass` until the rule is satisfied; `pass` returns its own time (a GPU's events). Fails when no pass had a
/// positive time.
[[nodiscard]] Result<Samples> estimate(const EstimatorSettings& settings, const std::function<units::Seconds()>& pass);

/// Times `work(repeats)` with `clock`. The number of repeats grows until one pass lasts `least_pass`; the times in the
/// answer are those of one repeat. Fails when the clock does not move.
[[nodiscard]] Result<Samples> time_passes(const EstimatorSettings& settings, const Clock& clock,
                                          const std::function<void(double repeats)>& work);

/// `amount` ÷ the median, e.g. bytes of one repeat → bytes/s.
[[nodiscard]] Figure rate_figure(double amount, const Samples& samples, std::string how);
/// The median ÷ `parts`, e.g. the time of a chase ÷ its steps → seconds a load.
[[nodiscard]] Figure time_figure(double parts, const Samples& samples, std::string how);

/// Value below which the fraction `q` of the values lies, with linear interpolation; 0 for none. Reorders its copy.
[[nodiscard]] double percentile(std::vector<double> values, double q);

}  // namespace corridor::measure
