// SPDX-License-Identifier: Apache-2.0
// What free words of a run's row mean: how many sequences and how they arrive, the layout over devices, the lengths.
#pragma once

#include <string>
#include <string_view>

#include "corridor/profile/points/measured_point.h"

namespace corridor::profile {

/// The words of one row, in lower case where they are searched.
struct RunWords {
  std::string notes, engine, model;
  std::string batch;    ///< "16", "c32", "bs=8", "300 requests, 10 req/s"
  bool closed = false;  ///< the column itself says "concurrency"
  std::string input, output;
  bool output_only = false;  ///< the column is an output length, never a context
};

/// Sets load and sequences. Static batches are the default; words of load generators and serving make a closed loop.
void set_load(const RunWords& words, MeasuredPoint& point);

/// Sets tp, pp, ep, dp from "TP4", "TP1 DP2 EP", "DEP8", "layer-split"; the count of devices when it is not stated.
void set_parallelism(std::string_view text, MeasuredPoint& point);

/// Sets input, output and context by what the metric counts.
void set_lengths(const RunWords& words, MeasuredPoint& point);

}  // namespace corridor::profile
