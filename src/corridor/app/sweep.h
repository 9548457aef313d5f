// SPDX-License-Identifier: Apache-2.0
// The use case of `corridor sweep`: one case over one or two axes, with the knee, the break-even batch and every flip
// of the wall.
//
//   SweepRequest request{base, {"batch=1..512", "device=h100-sxm,h200"}};
//   sweep(assets, request)->lines[0].points[3].step.mid
//
// Names (model, device, engine, constants) are resolved once for each combination of names; the points are computed in
// parallel and come out the same on any number of cores.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "corridor/app/predict.h"
#include "corridor/app/sweep_axis.h"

namespace corridor::app {

struct SweepRequest {
  PredictRequest base;            ///< what all points share
  std::vector<std::string> over;  ///< one or two axes as written
  /// Called now and then with the points computed so far and all of them; may be empty.
  std::function<void(std::size_t done, std::size_t all)> progress;
};

/// One point: the numbers `corridor predict` gives for the same scenario.
struct SweepPoint {
  std::array<double, 2> at{};  ///< value on each axis (SweepAxis::label names it)
  bool added = false;          ///< not asked for: the knee
  std::string error;           ///< why this combination is not possible; then nothing below is filled
  bool fits = true;
  units::Seconds limit;  ///< one decode step (a round, when speculating)
  roofline::Interval step;
  double sequences = 0;        ///< running at once on one replica
  double tokens_per_step = 1;  ///< new tokens of one sequence a step
  double asked = 0;            ///< batch or concurrency of the case, all replicas
  double users = 0;            ///< running at once, all replicas
  units::Seconds ttft_limit;
  roofline::Interval ttft;
  roofline::Wall wall = roofline::Wall::memory, ttft_wall = roofline::Wall::compute;
  roofline::WallShares shares;
  units::FlopsPerByte intensity;  ///< of the decode step
  units::Bytes weights, kv;       ///< read in one decode step of one replica
  units::Bytes needed;            ///< memory one device needs
  units::Bytes kv_pool;           ///< left for the KV cache on one device
  std::optional<double> max_requests;
  std::optional<double> break_even, break_even_weights_only;
  bool kv_ahead = false;  ///< the KV bytes of the step are more than its weight bytes

  /// Tokens a second of one user, and of all, when a step takes this long.
  [[nodiscard]] double per_user(units::Seconds time) const { return tokens_per_step / time.value(); }
  [[nodiscard]] double total(units::Seconds time) const { return users * per_user(time); }
};

/// Something changed between two neighbours on one axis. On an axis of whole numbers both ends were brought together by
/// bisection: `before` still has the old state, `after` is the next number and has the new one.
struct SweepFlip {
  std::size_t axis = 0;  ///< along which
  std::string of;        ///< "decode" or "prefill": its wall; "memory": whether the case fits
  std::string from, to;  ///< "memory", "compute", "overhead", "interconnect"; "fits", "does not fit"
  std::array<double, 2> before{}, after{};
  double asked_before = 0, asked_after = 0;  ///< the asked values it lies between
};

/// All points along the first axis of numbers, at one value of the other axis.
struct SweepLine {
  double other = 0;  ///< value on the other axis
  std::vector<SweepPoint> points;
  /// Smallest batch (or concurrency) whose doubling gives less than `knee_gain` times the total tokens a second.
  std::optional<double> knee;
  /// Smallest context at which the KV bytes of a step are more than its weight bytes, also beyond the range.
  std::optional<double> kv_overtakes;
};

/// Doubling the batch below the knee gives at least this factor.
inline constexpr double knee_gain = 1.5;

struct SweepAnswer {
  std::vector<SweepAxis> axes;
  std::size_t along = 0;  ///< the axis the lines run along: the first of numbers, else the first
  std::vector<SweepLine> lines;
  std::vector<SweepFlip> flips;
  /// Case of the first names: model, device, defaults; notes of all cases; of its prediction only the assumptions.
  PredictAnswer first;
  [[nodiscard]] std::size_t point_count() const;
  [[nodiscard]] bool any_fits() const;
};

/// Errors: axes (parse_axis), an axis that is also given as a flag, more than a million points, names, and the case
/// itself when no point at all is possible. A single impossible point is kept with its reason.
[[nodiscard]] Result<SweepAnswer> sweep(const Assets& assets, const SweepRequest& request);

}  // namespace corridor::app
