// SPDX-License-Identifier: Apache-2.0
// The use case of `corridor validate`: predictions held against measured points, as a table by regime.
//
//   decode, TPOT under concurrency, dense   446 points   median 6.2 %   p90 15.4 %   bias +0.4 %   inside 78 %
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corridor/base/assets.h"
#include "corridor/base/result.h"
#include "corridor/profile/points/measured_point.h"

namespace corridor::app {

struct ValidateRequest {
  std::vector<std::string> points;  ///< files; empty = the shipped tables
  std::string device;               ///< for tables that name none
};

enum class PointStatus { predicted, beyond_limit, not_understood };
[[nodiscard]] std::string_view name(PointStatus);

/// One row and what was predicted for it. Numbers are in the row's own unit and direction: for a rate `low` is the
/// slowest expected one, and `limit` the fastest physics allows.
struct JudgedPoint {
  profile::MeasuredPoint point;
  PointStatus status = PointStatus::predicted;
  std::string reason;  ///< why it is not understood, or what is impossible about it
  double observed = 0, low = 0, mid = 0, high = 0, limit = 0;
  double roofline = 0;  ///< the pure limit as a prediction; differs from `limit` where a cache may hold the operands
  double one_constant = 0;  ///< the usual rule: 0.6 · bandwidth for decode, MFU 0.45 (prefill) / 0.30 for products
  std::string regime;       ///< "TPOT, concurrency, dense"
  std::string device_id, engine_id, model_id;
  bool device_measured = false, engine_known = false;
  bool saturated = false;  ///< fewer sequences ran at once than were asked for
  bool fits = true;        ///< by our own count of the memory
  /// Signed error of a prediction of this point: predicted ÷ observed − 1, as times (a rate is turned over first).
  [[nodiscard]] double error(double predicted) const;
  [[nodiscard]] bool inside() const { return low <= observed && observed <= high; }
};

struct RegimeResult {
  std::string name;
  std::size_t points = 0;
  double median_error = 0, p90_error = 0, bias = 0;  ///< |predicted ÷ observed − 1|; bias: median of the signed one
  double interval_coverage = 0, interval_ratio = 0;  ///< share inside; median of high ÷ low
  double limit_median_error = 0, one_constant_median_error = 0;
};

/// Predicted points that share what a fit or a user would look at together; for analysis, in JSON only.
struct GroupResult {
  std::string regime, engine, device, model;
  std::int64_t tp = 1;
  std::string sequences;  ///< "1", "2-8", "9-64", "65-"
  std::size_t points = 0;
  double median_error = 0, bias = 0, interval_coverage = 0;
};

/// How far two measurements of one configuration lie apart: no prediction can be closer than about half of it.
struct NoiseFloor {
  std::size_t pairs = 0;
  double median_ratio = 1;  ///< larger ÷ smaller value
  double p90_ratio = 1;
};

struct ReasonCount {
  std::string reason;
  std::size_t points = 0;
  std::string example;  ///< id of one row
};

struct ValidateAnswer {
  std::vector<JudgedPoint> points;
  std::vector<RegimeResult> regimes;
  RegimeResult overall;
  std::vector<GroupResult> groups;  ///< most points first
  NoiseFloor noise_floor;
  std::vector<std::size_t> worst;  ///< indices of the ten worst predicted points, with `reason` filled
  std::vector<std::size_t> beyond_limit;
  std::vector<ReasonCount> not_understood;
  std::vector<std::string> files, notes;
  std::vector<std::string> warnings;  ///< files that were left out beside others
};

/// Fails on a file that cannot be read at all. No row is dropped: each is predicted, beyond the limit or not
/// understood.
[[nodiscard]] Result<ValidateAnswer> validate(const Assets& assets, const ValidateRequest& request);

}  // namespace corridor::app
