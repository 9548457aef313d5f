// SPDX-License-Identifier: Apache-2.0
// SweepAnswer → Document "corridor/sweep/1": what stands out first, then curves, points and flips; and the points as
// CSV.
//
//   Verdict: Knee at batch 310: below it, doubling gives at least 1.5 times the tokens a second. …
//   (chart)
//   batch   step    tok/s, user   tok/s, all   first token   wall     fits
#pragma once

#include <string>
#include <vector>

#include "corridor/app/sweep.h"
#include "corridor/report/document.h"

namespace corridor::views {

/// Points that a document lists at most; the CSV file has all of them.
inline constexpr std::size_t most_listed_points = 100'000;

[[nodiscard]] report::Document sweep_view(const app::SweepAnswer& answer, bool explain = false);

/// RFC 4180: one line a point, a header with units in its names, empty cells where a number is unknown.
[[nodiscard]] std::string sweep_csv(const app::SweepAnswer& answer);

/// One column of the points, in tables, JSON and CSV alike.
struct SweepColumn {
  report::Column head;
  report::Value (*value)(const app::SweepPoint&);
};
/// Columns after those of the axes. `label` is empty where only JSON, CSV and HTML show the column.
[[nodiscard]] std::vector<SweepColumn> sweep_columns(const app::SweepAnswer& answer);
/// "batch", or "device" with its name: the value of a point on one axis.
[[nodiscard]] report::Value axis_value(const app::SweepAxis& axis, double value);

/// Curves against the axis the lines run along, when it has numbers.
[[nodiscard]] std::vector<report::LinePlot> sweep_plots(const app::SweepAnswer& answer);

}  // namespace corridor::views
