// SPDX-License-Identifier: Apache-2.0
// One axis of a sweep as a user writes it: "batch=1..512", "context=1024,4096", "weights=bf16,fp8", "tp=1,2,4,8".
//
//   batch=1..512       powers of two and both ends (every number when there are at most 16); the knee is added
//   batch=1..512:32    1, 33, 65 … and the end
//   batch=1..512*1.5   1, 2, 3, 5 … and the end: each 1.5 times the one before, rounded
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "corridor/app/predict.h"

namespace corridor::app {

enum class AxisKind { batch, concurrency, context, input, output, tp, weights, kv, device, engine };
[[nodiscard]] std::string_view name(AxisKind);

/// Points a sweep may have at most, and so values an axis may have.
inline constexpr std::size_t most_sweep_points = 1'000'000;

struct SweepAxis {
  AxisKind kind = AxisKind::batch;
  std::vector<double> values;      ///< ascending whole numbers; of an axis of names 0, 1, 2 …
  std::vector<std::string> names;  ///< as given, each once; empty on an axis of numbers
  bool own_spacing = false;        ///< the program chose the values inside a range, so it may add the knee

  [[nodiscard]] bool has_numbers() const { return names.empty(); }
  /// Whether every whole number between two values has a meaning: not so for tp, which must divide the heads.
  [[nodiscard]] bool between() const { return has_numbers() && kind != AxisKind::tp; }
  [[nodiscard]] std::string label(double value) const;
  /// Writes a value of this axis into the request.
  void put(double value, PredictRequest& request) const;
};

/// Errors name the axis as written: unknown axis, no value, reversed or endless range, a number out of range.
[[nodiscard]] Result<SweepAxis> parse_axis(std::string_view text);

}  // namespace corridor::app
